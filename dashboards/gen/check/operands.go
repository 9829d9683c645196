package check

import "github.com/prometheus/prometheus/promql/parser"

// operands are the parts of a condition that have data whether it holds or not: the sides of comparisons and of and, or,
// unless.
func operands(expr parser.Expr) []string {
	switch e := expr.(type) {
	case *parser.ParenExpr:
		return operands(e.Expr)
	case *parser.BinaryExpr:
		if e.Op.IsComparisonOperator() || e.Op.IsSetOperator() {
			return append(operands(e.LHS), operands(e.RHS)...)
		}
	case *parser.NumberLiteral:
		return nil
	}
	return []string{expr.String()}
}
