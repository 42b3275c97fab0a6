"""The command ``stream``: tables without an end, learned from in one pass."""

from lessnaive.cli.streaming.command import stream_command

__all__ = ["stream_command"]
