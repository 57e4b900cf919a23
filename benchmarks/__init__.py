"""Speed, measured as ratios between two things in one run. `make bench` prints everything."""
