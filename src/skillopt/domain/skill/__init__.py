"""The skill document and the edits that change it: exact text in, exact text out.

Owns: the document model, its protected regions and the rules of editing. Knows no file system, model or loop.
"""

from skillopt.domain.skill.apply import apply
from skillopt.domain.skill.content import hidden_character, objection, warnings
from skillopt.domain.skill.document import SKILL_FILE, Skill, SkillFile
from skillopt.domain.skill.edits import (
    Applied,
    Candidate,
    Edit,
    EditOp,
    EditSource,
    Objection,
    Patch,
    Refusal,
    Refused,
)
from skillopt.domain.skill.markers import Block, Region, parse_regions, strip_markers
from skillopt.domain.skill.regions import region_content, restore_regions, with_region
from skillopt.domain.skill.sections import Section
from skillopt.domain.skill.standard import Finding, check_standard

__all__ = [
    "SKILL_FILE",
    "Applied",
    "Block",
    "Candidate",
    "Edit",
    "EditOp",
    "EditSource",
    "Finding",
    "Objection",
    "Patch",
    "Refusal",
    "Refused",
    "Region",
    "Section",
    "Skill",
    "SkillFile",
    "apply",
    "check_standard",
    "hidden_character",
    "objection",
    "parse_regions",
    "region_content",
    "restore_regions",
    "strip_markers",
    "warnings",
    "with_region",
]
