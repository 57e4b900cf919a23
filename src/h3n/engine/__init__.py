"""A saved model, run without torch: read, fed, computed in numpy or native code, and its answers named."""
