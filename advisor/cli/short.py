"""`MACHINE MODEL`: the answer in six lines, for which the rest of `advise` is not loaded."""

import argparse

from advisor.cli.brief import answered_to, print_brief


def run(args: argparse.Namespace) -> None:
    """Run the command of two words: a machine and a model."""
    answered = answered_to(args)
    if not args.all:
        print_brief(args, answered)
        return
    from advisor.cli.advise import print_whole  # with loads of many users, for the whole alone

    print_whole(args, answered)
