"""How the values of one column are distributed in each class."""
