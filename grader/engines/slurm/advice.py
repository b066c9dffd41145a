"""The settings behind Slurm's refusals, and behind its reasons for which tasks wait; pure."""

from __future__ import annotations

import re

WHERE = "engines.slurm of course.yaml or of the site's file"
_REFUSALS = (
    (
        r"slurm\.conf|(cannot stat|unable to status) file|fetch_config|configuration source",
        "see SLURM_CONF, and run grader where sinfo works",
    ),
    (r"^no node of", "see `cpus`, `gpu` and `partition` in {where}"),
    (r"partition.*(not available|inactive|drain)", "see sinfo, and name another `partition`, in {where}"),
    (r"\baccount\b", "see `account` and `partition` in {where}"),
    (r"partition", "see `partition` in {where}"),
    (r"node ?(name|list)", "see `options` in {where}"),  # no setting of ours names a node
    (r"qos|wckey|reservation|license", "see `options` in {where}"),
    (r"Max\w*Wall|time", "see `time` and `options` in {where}"),
    (r"unrecognized|invalid option|ambiguous|requires an argument", "see `options` in {where}"),
    (r"feature|gres|gpu", "see `gpu` in {where}"),
    (r"memory|--mem\b", "see `memory` in {where}"),
    (r"node|cpu|config", "see `cpus`, `memory` and `gpu` in {where}"),
)
"""By a part of sbatch's words, the first that fits."""
_REASONS = (
    (r"^PartitionDown|^PartitionInactive", "its partition starts no jobs; see sinfo, or name another"),
    (r"^PartitionTimeLimit", "the partition allows less time; lower `time`"),
    (r"Max\w*Wall", "the account or its QOS allows less time; lower `time`"),
    (
        r"^PartitionConfig|^BadConstraints",
        "the partition has no such node now; see `cpus`, `memory`, `gpu`",
    ),
    (r"MaxSubmit|MaxJobs|PerUser|PerAccount|Grp", "other jobs have to end first"),
    (r"Max\w+PerJob|Max\w+PerNode", "the account or its QOS allows less for one job"),
    (r"\baccount\b|^Invalid(QOS|Account)", "name another `account` or `partition`"),
    (r"^JobHeldAdmin", "an administrator holds it; ask there"),
    (r"^JobHeldUser", "somebody holds it; scontrol release lets it go"),
)
"""By a part of squeue's reason, the first that fits; what passes by itself needs no advice."""


def refusal(words: str) -> str:
    """Return sbatch's words with the settings that caused them."""
    cure = _first(_REFUSALS, words) or "see its settings: {where}"
    return f"{words}; {cure.format(where=WHERE)}"


def reason(words: str) -> str:
    """Return squeue's reason for which a task waits, with what it takes to end that if it takes something."""
    cure = _first(_REASONS, words)
    return f"{words}: {cure}" if cure else words


def _first(cures: tuple[tuple[str, str], ...], words: str) -> str:
    return next((cure for pattern, cure in cures if re.search(pattern, words, re.IGNORECASE)), "")
