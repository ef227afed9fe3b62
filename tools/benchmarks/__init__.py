"""What tools/bench.py is made of: peers, arrays, cases, timing, results, targets, report."""
