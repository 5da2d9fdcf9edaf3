// What figures over time and time lines seek in.

/** The first place of an ordered array whose value is at least the wanted one. */
function firstFrom(sorted, wanted) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1; else high = middle;
  }
  return low;
}
