"""Comparison: estimates, options and the decision, from which the words of an answer are made."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.advice.decision import Decision
from advisor.advice.edits.edit import Edited
from advisor.advice.finder.runnable import Runnable
from advisor.advice.situation import Situation
from advisor.advice.table import choice as choices
from advisor.advice.table import turning
from advisor.advice.table.demand import LATE
from advisor.advice.table.option import Option, Question
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.lazy import lazy
from advisor.runtimes.compare import decode_tps, usable

if TYPE_CHECKING:
    from advisor.advice.edits.second_machine import SecondMachine
    from advisor.advice.table.candidate import Candidate
    from advisor.advice.table.ram_and_drive import RamAndDrive
    from advisor.advice.task import Task

NOTABLY = 1.1
"""Smallest factor by which another runtime must be faster than the chosen one to be named."""
LEAST_TPS = 1.0
"""Speed from which another runtime is named where the chosen one does not run it [tokens/s]."""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Complete answer to a comparison, without its words."""

    title: str  # model, format and machine in one line
    question: Question  # input of the options
    estimates: tuple[Estimate, ...]  # one estimate for each runtime and placement
    best: Estimate | None  # fastest estimate that fits; None if none fits
    what_ifs: tuple[Edited, ...]  # changes that make it faster, largest gain first
    options: tuple[Option, ...]  # options, the present machine first, then by what they save
    choice: choices.Choice  # what to do, if anything, and the cheapest beside it
    decision: Decision  # rule that decided, and what it decided for
    case: Situation  # what the rules looked at
    another_model: Runnable | None  # rated as well and faster here, where that is worth a word
    closest: Runnable | None  # best rated that keeps up, where the model asked for is of no use
    candidates: "tuple[Candidate, ...]" = ()  # purchases that somebody asks about
    elsewhere: bool = False  # the estimates are of another machine than the kept one
    served: int | None = None  # users at reading speed; None where one is asked for
    task: "Task | None" = None  # of the session in the best placement; None where none is asked for
    chosen: Runtime | None = None  # of options and changes; None for the fastest in common use
    placement: PlacementStrategy | None = None  # of the answer; None for the fastest

    @property
    def waits_for_thinking(self) -> bool:
        """Whether somebody waits for the thinking before a reply, which is no turn of an agent."""
        return self.options[0].thinking_seconds >= LATE and self.task is None

    @lazy
    def second_machine(self) -> "SecondMachine | None":
        """Speed with as many further machines by cable; None without unified memory."""
        from advisor.advice.edits.second_machine import second_machine

        question = self.question
        if not question.machine.unified:
            return None
        return second_machine(question.model, question.machine, question.work)

    @lazy
    def ram_and_drive(self) -> "RamAndDrive | None":
        """Speed over sizes of RAM and drives; None where neither changes it."""
        from advisor.advice.table.ram_and_drive import ram_and_drive

        return ram_and_drive(self.question, self.estimates)

    @lazy
    def in_question(self) -> Option | None:
        """Option that the verdict depends on, or names beside a free decision; None where nothing
        can be compared.
        """
        if self.decision.within is not None:
            return self.decision.within
        judged = self._judged
        options = self.case.options
        return next((option for option in options if self.as_judged(option) is judged), judged)

    @property
    def named(self) -> tuple[Option, ...]:
        """Options that the sentences of the answer name, which every table shows."""
        further = (self.in_question, self.decision.drawback)
        return (*self.choice.named, *(option for option in further if option is not None))

    @lazy
    def _judged(self) -> Option | None:
        """Option in question with the settings that it is judged in: without thinking where the
        model can stop, unless it is bought for thinking.
        """
        within = self.decision.within
        if within is not None:
            if self._for_thought:
                return within
            return self.as_judged(within)
        if self._rival is not None:
            return self.as_judged(self._rival)
        safe = self.choice.safe
        cheapest = self.choice.cheapest
        choice = replace(
            self.choice,
            safe=safe and self.as_judged(safe),
            cheapest=cheapest and self.as_judged(cheapest),
        )
        judged = [self.as_judged(option) for option in self.case.options]
        return choices.in_question(judged, choice, self.case.pace)

    @property
    def _rival(self) -> Option | None:
        """Purchase that would do as well as to buy nothing; None without one."""
        rival = self.decision.rival
        if rival is None or not choices.is_bought(rival) or not self.decision.keeps:
            return None
        named = (rival.kind, rival.name)
        return next((each for each in self.case.options if (each.kind, each.name) == named), None)

    @property
    def _for_thought(self) -> bool:
        """Whether the option in question is judged with the model's thinking left on."""
        within = self.decision.within
        return within is not None and within is not self.case.choice.safe

    @lazy
    def _judged_options(self) -> Mapping[int, Option]:
        """Options with the settings that they are judged in, by the identity of each; empty where
        all keep their settings.
        """
        if not self.case.judged:
            return {}
        pairs = zip(self.case.options, self.case.judged, strict=True)
        return {id(option): judged for option, judged in pairs}

    def as_judged(self, option: Option) -> Option:
        """Option with the settings in which it is judged: without thinking where the model can
        stop.
        """
        return self._judged_options.get(id(option), option)

    @property
    def judged_without_thinking(self) -> str:
        """Note that options are judged without thinking; empty where the model does not think or
        cannot stop.
        """
        kept = self.options[0]
        if self.as_judged(kept).use.money.thinking_tokens == kept.use.money.thinking_tokens:
            return ""
        return "Options are counted with thinking off, as purchases are judged."

    def beside_free(self, option: Option) -> Option:
        """Option as it is judged, compared with this machine at its best free setting."""
        judged = self.as_judged(option)
        step = self.case.step
        if self._for_thought and option is self.decision.within:
            judged = option
        elif step is not None:
            step = self.as_judged(step)
        if judged is step or step is None or step.with_waiting is None:
            return judged
        return replace(judged, kept=step)

    @property
    def _turning(self) -> Option | None:
        """Option in question, compared with this machine at its best free setting."""
        option = self.in_question
        if option is None:
            return None
        return self.beside_free(option)

    @property
    def what_changes(self) -> str:
        """Inputs at which another decision would be made, in words; empty for none.

        Money and waiting must be what the decision rests on: work that is due, a faster runtime or
        a free setting decide whatever a purchase would pay.
        """
        option = self._turning
        if option is None or self.decision.rests_on_demand or self.faster_elsewhere is not None:
            return ""
        if self.in_question is self.choice.safe:
            clear = option.pays and not self.decision.close
            if clear:
                return turning.what_changes(option)
            return ""
        if not option.pays:
            return self._beside_the_step(option)
        if self.decision.model is None or option.odd or self._is_undone(option):
            return ""
        words = turning.what_changes(option, priced=True)
        if words:
            return f"If it must be {self.question.model.title}: {words}"
        return ""

    def _beside_the_step(self, option: Option) -> str:
        """Inputs at which an option would pay beside this machine at its best free setting."""
        words = turning.what_changes(option)
        if not words or option is self._judged or self.case.step is None:
            return words
        return f"Beside {self.case.step.name}, {words}"

    def _is_undone(self, option: Option) -> bool:
        """Whether an option pays no more beside one of the free settings of this machine."""
        free = [
            each
            for each in self.case.options[1:]
            if each.is_free_setting and each.speed and each.loss is not None
        ]
        return not all(replace(option, kept=self.as_judged(each)).pays for each in free)

    @lazy
    def faster_elsewhere(self) -> Estimate | None:
        """Estimate of another runtime that is notably faster here than the chosen one; None without
        one, or without a choice.
        """
        if self.chosen is None or self.question.ownership.nothing:
            return None
        least = NOTABLY * decode_tps(self.best) if self.best else LEAST_TPS
        first = next(iter(usable(self.placed(self.placement))), None)
        if first is None or decode_tps(first) < least:
            return None
        return first

    @property
    def what_matters(self) -> tuple[turning.TornadoBar, ...]:
        """Monthly gain of the option in question at the ends of each input, the most influential
        first.
        """
        if self._turning:
            return turning.what_matters(self._turning)
        return ()

    def placed(self, strategy: PlacementStrategy | None) -> tuple[Estimate, ...]:
        """Estimates of one placement, in the order of the runtimes; None for all."""
        return tuple(each for each in self.estimates if strategy in (None, each.strategy))

    def meant(self, strategy: PlacementStrategy | None = None) -> tuple[Estimate, ...]:
        """Estimates of the chosen runtime, or of all where none is chosen, in one placement or in
        all.
        """
        return tuple(each for each in self.placed(strategy) if self.chosen in (None, each.runtime))

    def card(self, strategy: PlacementStrategy) -> Estimate | None:
        """Estimate that represents a placement: the fastest usual one that fits, or the first
        possible one.

        The fastest engine of all shows what a drive is worth beside a faster placement.
        """
        possible = [estimate for estimate in self.meant(strategy) if not estimate.refusal]
        able = usable(possible)
        of_drive = strategy is PlacementStrategy.NVME_OFFLOAD
        if of_drive and self.best is not None and self.best.strategy is not strategy:
            able.sort(key=decode_tps, reverse=True)
        return next(iter((*able, *possible)), None)

    def why_not(self, strategy: PlacementStrategy) -> str:
        """Reason why a placement is impossible; empty where it is possible."""
        if self.chosen is not None and not self.meant(strategy):
            return self.chosen.lacks(strategy)
        return next((estimate.refusal for estimate in self.meant(strategy) if estimate.refusal), "")
