"""h3n inside other libraries: spaCy and NLTK. Each module needs its library; this package itself needs none."""
