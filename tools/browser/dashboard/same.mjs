// Comparisons that say what differs.

/** Fails unless both lists hold the same texts. */
export function same(shown, expected, what = '') {
  const at = [...Array(Math.max(shown.length, expected.length)).keys()].find((index) => shown[index] !== expected[index]);
  if (at === undefined) return;
  throw new Error(`${what} differs at ${at}: shown ${JSON.stringify(shown[at])}, expected ${JSON.stringify(expected[at])}`);
}

/** Fails unless the condition holds. */
export function holds(condition, what) {
  if (!condition) throw new Error(what);
}
