"""The parts of tests/conformance/run: one module per concern, standard library only."""
