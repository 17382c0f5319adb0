"""Ordinary tables on disk: reading and checking them, turning columns into features, training on them, writing."""
