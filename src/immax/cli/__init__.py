"""The command ``immax``: one thin module for each of its commands."""
