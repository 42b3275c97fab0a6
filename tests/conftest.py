"""Settings shared by all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

collect_ignore = ["oracles"]  # scripts that need the peers to be installed

# Jobs that a shell starts in the background ignore Ctrl-C, and so would all that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Deadlines would make slow machines fail; "ci" draws the same examples in every run.
settings.register_profile(
    "ci",
    max_examples=70,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# HYPOTHESIS_PROFILE=search pytest tests/test_invariance.py
settings.register_profile("search", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
