/**
 * Tells whether an answer comes too late. Each call of what it returns begins a choice, and answers a function that reports whether no
 * other choice has begun since.
 */
export function latest(): () => () => boolean {
  let last = 0
  return () => {
    const mine = ++last
    return () => mine === last
  }
}
