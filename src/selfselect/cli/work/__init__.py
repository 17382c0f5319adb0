"""What the commands do, one module each with a function ``run``; imported when a command runs, not before."""
