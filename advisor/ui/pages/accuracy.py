"""The Accuracy page: published speeds beside predictions, and the errors."""

from advisor.ui.accuracy import groups, own_results, points, scores
from advisor.ui.accuracy.claims import claims_section
from advisor.ui.accuracy.ledger import judged
from advisor.ui.parts.markup import block, show

show(block("oa-title", "Accuracy", "h1"))
accuracy = judged()
scores.verdict(accuracy)
scores.regimes(accuracy)
groups.section(accuracy)
points.figures((*accuracy.points, *own_results.points()))
scores.formulas(accuracy)
scores.method()
claims_section()
