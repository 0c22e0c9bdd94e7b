"""Settings that every test shares."""

from hypothesis import HealthCheck, settings

# The same examples in every run: a failure is one anybody can repeat, and no run is red by chance.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")
