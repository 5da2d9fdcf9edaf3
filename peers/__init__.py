"""What benches/ and validation/ share: finding other simulators, compiling against them, and writing tables."""
