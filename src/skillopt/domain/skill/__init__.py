"""The skill document and the edits that change it: exact text in, exact text out.

Owns: the document model, its protected regions and the rules of editing. Knows no file system, model or loop.
"""

from skillopt.domain.skill.apply import apply, is_program
from skillopt.domain.skill.content import hidden_character, objection, warnings
from skillopt.domain.skill.document import SKILL_FILE, Skill, SkillFile
from skillopt.domain.skill.edits import (
    Applied,
    Candidate,
    Change,
    Draft,
    Edit,
    EditOp,
    EditSource,
    Objection,
    Patch,
    Refusal,
    Refused,
    Suggestion,
    SuggestionKind,
)
from skillopt.domain.skill.markdown.markers import Block, Region, parse_regions, strip_markers
from skillopt.domain.skill.markdown.sections import Section
from skillopt.domain.skill.regions import region_content, restore_regions, with_region
from skillopt.domain.skill.rewrite import rewritten
from skillopt.domain.skill.standard import Finding, check_standard

__all__ = [
    "SKILL_FILE",
    "Applied",
    "Block",
    "Candidate",
    "Change",
    "Draft",
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
    "Suggestion",
    "SuggestionKind",
    "apply",
    "check_standard",
    "hidden_character",
    "is_program",
    "objection",
    "parse_regions",
    "region_content",
    "restore_regions",
    "rewritten",
    "strip_markers",
    "warnings",
    "with_region",
]
