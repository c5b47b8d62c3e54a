// The focus is never lost: when what has it goes away, such as the button of a request that was answered, the focus goes to what
// stands nearest, else to the screen.

const able = "a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex='0']"

/** Keeps the focus somewhere for as long as the page is there. */
export function keepFocus() {
  /** What had the focus last, and all that it stood in, the nearest first. */
  let path: HTMLElement[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const mend = () => {
    timer = undefined
    if (document.activeElement !== document.body || path.length === 0 || path[0]!.isConnected) return
    const near = path.find((e) => e.isConnected && e.id !== "main" && e.closest("#main, dialog"))
    const next = near?.querySelector<HTMLElement>(able) ?? document.querySelector<HTMLElement>("dialog[open] .dialog-card button") ?? document.getElementById("main")
    path = []
    if (!next) return
    // What somebody looks at, or holds, stays where it is, unless nothing of what has the focus is in sight, also of a list that scrolls by itself.
    next.focus({ preventScroll: true })
    new IntersectionObserver(([seen], watch) => {
      watch.disconnect()
      if (!seen!.isIntersecting) next.scrollIntoView({ block: "nearest" })
    }).observe(next)
  }
  document.addEventListener("focusin", (e) => {
    path = []
    for (let at = e.target as HTMLElement | null; at; at = at.parentElement) path.push(at)
  })
  // A dialog or a menu that closes gives the focus back by itself, a moment later.
  new MutationObserver(() => {
    if (path.length > 0 && !path[0]!.isConnected) timer ??= setTimeout(mend, 100)
  }).observe(document.body, { childList: true, subtree: true })
}
