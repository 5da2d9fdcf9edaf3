use roamsim_scenario::*; use roamsim_scenario::run::*;
fn main(){ let f=std::env::args().nth(1).unwrap(); let t=std::fs::read_to_string(&f).unwrap();
 let ov: Vec<(String,String)>=std::env::args().skip(2).map(|a|{let (x,y)=a.split_once('=').unwrap();(x.to_string(),y.to_string())}).collect();
 let s=match Scenario::parse(&t,&f,Format::Toml,&ov){Ok(s)=>s,Err(d)=>{println!("{}",d.render(false));return}};
 let t0=std::time::Instant::now();
 let o=run(&s,Options{seed:1,..Default::default()}); let e=t0.elapsed();
 match o {Ok(o)=>{println!("events {} in {:?}",o.events,e); for t in o.tables{println!("== {}",t.name); for c in t.columns{println!("  {} {:?}",c.name,c.values);}}},Err(e)=>println!("{e}")}
}
