"""One joint at a time: the experiments of Algorithm 2 of [Lin1992], why they excite, and their motions."""
