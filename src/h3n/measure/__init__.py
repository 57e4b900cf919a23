"""Measuring: how fast and how good things are, as data, with the tables and plots made from it.

`timing` has the clocks, `fits` what follows from times, `tables` and `plots` what they look like, `provenance` where a
figure comes from. Each of the other modules measures one thing. Commands, experiments and benchmarks call these.
"""
