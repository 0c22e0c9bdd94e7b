"""The program that [Izaguirre1992], Appendix A, prints: as formulas to count and to run.

A letter stands for every assignment of the listing that has an operation, the unused ones among them; what
only renames is left out. Missing and surplus brackets are repaired (they change neither a value nor a count).
`DROPPED` are the five terms that its generator lost: all carry Z6 through JS413 or JS423, whose own formulas
the listing has.
"""

from __future__ import annotations

import ast
import math

VALUES = {
    "M6": 2.768114,
    "Z6": 0.01401,
    "Y4": -0.38219,
    "AD4": 0.079781,
    "CD4": 0.077761,
    "A2": 0.2032,
    "D3": 0.12624,
    "D4": 0.2032,
    "GRAV": 9.81,
}
MOTORS = (0.091631, 0.136312, 0.030843, 0.001781, 0.006759, 0.001262)

# What the C preprocessor is told; the compiler computes it, so it costs nothing.
CONSTANTS = """
FP42 = D4 * M6; FP32 = -D3 * M6; FP21 = A2 * M6
NP411 = M6 * D4 * D4; NP433 = NP411
NP311 = M6 * D3 * D3; NP333 = NP311
NP222 = M6 * A2 * A2; NP233 = NP222
"""

PRINTED = """
C4C4 = C4 * C4; S4S4 = S4 * S4; S4C4 = S4 * C4; C3C3 = C3 * C3; S3S3 = S3 * S3; S3C3 = S3 * C3
C2C2 = C2 * C2; S2C2 = S2 * C2; S2S2 = S2 * S2; C1C1 = C1 * C1; S1C1 = S1 * C1; S1S1 = S1 * S1
T1214 = C2 * A2; T1224 = S2 * A2; T1411 = C23 * C4
T1414 = -(S23 * D4) + T1214; T1424 = C23 * D4 + T1224; T1421 = S23 * C4
BS51 = -(S5 * Z6); BS52 = C5 * Z6; BA52 = Y4 + BS52 + FP42
BS41 = C4 * BS51; BS42 = S4 * BS51; BS43 = BA52; BA42 = BS42 + FP32
BS32 = S3 * BS41 + C3 * BS43; BS31 = C3 * BS41 - S3 * BS43; BS33 = -BA42; BA31 = BS31 + FP21
BS22 = S2 * BA31 + C2 * BS32; BS23 = BS33; BS21 = C2 * BA31 - S2 * BS32
JA533 = CD4 - NP433; JA511 = AD4 - NP411
JS423 = 0 - D4 * BS42
JS422 = S4S4 * JA511 + C4C4 * JA533 + 2.0 * (D4 * BS43)
JS413 = 0 - D4 * BS41
JS412 = S4C4 * (JA511 - JA533)
JS411 = C4C4 * JA511 + S4S4 * JA533 + 2.0 * (D4 * BS43)
JA433 = -NP333; JA411 = JS411 - NP311; JS333 = JS422
JS323 = -(S3 * JS412) - D3 * BS32
JS313 = -(C3 * JS412) - D3 * BS31
JS322 = S3S3 * JA411 + C3C3 * JA433 + 2.0 * (D3 * BS33)
JS312 = S3C3 * (JA411 - JA433)
JS311 = C3C3 * JA411 + S3S3 * JA433 + 2.0 * (D3 * BS33)
JA333 = JS333 - NP233; JA322 = JS322 - NP222
JS233 = JA333 + 2.0 * (T1224 * BS22 + T1214 * BS21)
JS223 = S2 * JS313 + C2 * JS323 - T1224 * BS23
JS222 = S2S2 * JS311 + (2 * S2C2) * JS312 + C2C2 * JA322 + 2.0 * (T1214 * BS21)
PS031 = C23 * D3; PS041 = T1411 * D3 + S4 * T1414; PS042 = -(S23 * D3)
PS131 = -(C23 * T1224) + S23 * T1214; PS141 = -(T1411 * T1424) + T1421 * T1414
PS142 = S23 * T1424 + C23 * T1414; PS241 = -(C4 * D4)
D11 = JS222 + IA1; D12 = JS223; D13 = S2 * JS313 + C2 * JS323
D14 = S23 * JS413 - BS42 * PS031 + BS41 * T1214; D15 = -(BS52 * PS041) + BS51 * PS042
D22 = JS233 + IA2; D23 = JS422 + BS31 * A2; D24 = -JS423 - BS42 * PS131
D25 = -(BS52 * PS141) + BS51 * PS142
D33 = JS422 + IA3; D34 = -JS423; D35 = -(BS52 * PS241)
G2 = GRAV * BS21; G3 = GRAV * (-(BS32 * S2) + BS31 * C2)
G4 = GRAV * -(BS42 * S23); G5 = GRAV * (-(BS52 * T1421) + BS51 * C23)
"""

# Each belongs behind the formula of the same name.
DROPPED = {
    "JS313": "S3 * JS423",
    "JS323": "-(C3 * JS423)",
    "JS311": "-(2.0 * S3C3 * JS413)",
    "JS322": "2.0 * S3C3 * JS413",
    "JS312": "(C3C3 - S3S3) * JS413",
}


def counted() -> tuple[int, int]:
    """Multiplications and additions of the listing, counted its way: a change of sign is one."""
    nodes = list(ast.walk(ast.parse(PRINTED)))
    binary = [type(node.op) for node in nodes if isinstance(node, ast.BinOp)]
    signs = sum(isinstance(node, ast.UnaryOp) for node in nodes)
    return binary.count(ast.Mult), binary.count(ast.Add) + binary.count(ast.Sub) + signs


def evaluated(q: list[float], complete: bool) -> tuple[list[list[float]], list[float]]:
    """D and D_i at q, with the dropped terms if `complete`."""
    names: dict[str, float] = {**VALUES, **{f"IA{k + 1}": motor for k, motor in enumerate(MOTORS)}}
    for k, angle in enumerate(q, start=1):
        names[f"S{k}"], names[f"C{k}"] = math.sin(angle), math.cos(angle)
    names["S23"], names["C23"] = math.sin(q[1] + q[2]), math.cos(q[1] + q[2])
    for statement in ast.parse(CONSTANTS + PRINTED).body:
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        names[target.id] = _value(statement.value, names)
        if complete and target.id in DROPPED:
            names[target.id] += _value(ast.parse(DROPPED[target.id], mode="eval").body, names)
    D = [[0.0] * 6 for _ in range(6)]
    for i in range(6):
        D[i][i] = MOTORS[i]
        for j in range(i, 6):
            if (entry := f"D{i + 1}{j + 1}") in names:
                D[i][j] = D[j][i] = names[entry]
    return D, [names.get(f"G{k + 1}", 0.0) for k in range(6)]


def _value(node: ast.expr, names: dict[str, float]) -> float:
    match node:
        case ast.Constant(value=float() | int() as number):
            return float(number)
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left, names), _value(right, names)
            return a * b if isinstance(op, ast.Mult) else a + b if isinstance(op, ast.Add) else a - b
        case _:
            raise ValueError(f"no formula of the listing: {ast.unparse(node)}")
