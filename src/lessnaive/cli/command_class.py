"""Commands that are imported when they are called, and refuse what is given twice."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

__all__ = ["Command", "LazyGroup"]


class Command(click.Command):
    """A command that refuses an option that is given twice, unless it may be."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        seen: set[str] = set()
        for parameter in order:
            once = isinstance(parameter, click.Option) and not parameter.multiple
            if once and parameter.name in seen:
                raise click.UsageError(f"{parameter.opts[-1]} is given twice: give it once.")
            seen.add(str(parameter.name))
        return super().parse_args(ctx, args)


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that all start at once.

    Parameters
    ----------
    places : mapping of str to (str, str, str)
        By the name of a command its module, its name there, and what it does in a few words.
    """

    def __init__(self, *, places: Mapping[str, tuple[str, str, str]], **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return sorted([*self._places, *super().list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self._places:  # one that was added
            return super().get_command(ctx, cmd_name)
        module, name, _ = self._places[cmd_name]
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the commands do, without importing them."""
        lines = [(name, does) for name, (_, _, does) in self._places.items()]
        lines += [(name, added.get_short_help_str(100)) for name, added in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(sorted(lines))
