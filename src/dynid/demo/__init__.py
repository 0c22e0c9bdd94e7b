"""The whole chain on a simulated arm: from its description and logs to a model that drives it."""
