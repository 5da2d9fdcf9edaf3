// The order of pages that a search finds: first those with the word in their title, then tutorials and guides, then models. Lists of
// keys, runs and statements come last.
var Scorer = {
  score: (result) => {
    const [docname, title, , , score] = result;
    const asked = (new URLSearchParams(window.location.search).get("q") || "").trim().toLowerCase();
    const places = {
      "docs/tutorial": 6, "docs/your-trace": 4, "docs/how-to/": 4, "docs/models/": 2,
      "docs/reference/scenario/": -10, "docs/gallery/": -10, "docs/rfc-statements": -10, "docs/findings/": -10, CHANGELOG: -10,
    };
    const place = Object.keys(places).find((start) => docname.startsWith(start));
    return score + (asked && title.toLowerCase().includes(asked) ? 12 : 0) + (place ? places[place] : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
