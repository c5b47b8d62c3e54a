// What becomes of a person's changes while their record changes or saves. Nothing of it needs a page.
import { Fault } from "@/api/fault"
import { versionOf } from "@/api/version"

/** Whether a record is a later version than another. Records without a version are not. */
export function isLater(a: object, b: object): boolean {
  const [x, y] = [versionOf(a), versionOf(b)]
  return x !== undefined && y !== undefined && BigInt(x.slice(1, -1)) > BigInt(y.slice(1, -1))
}
const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v)

/** The value at a path of one or two names, such as "name" or "business.city". */
export function at(record: object, path: string): unknown {
  const [first, second] = split(path)
  const value = (record as Record<string, unknown>)[first]
  return second === undefined ? value : isObject(value) ? value[second] : undefined
}

/** A copy of the record with a value at a path. */
export function put<T extends object>(record: T, path: string, value: unknown): T {
  const [first, second] = split(path)
  if (second === undefined) return { ...record, [first]: value }
  const inner = (record as Record<string, unknown>)[first]
  return { ...record, [first]: { ...(isObject(inner) ? inner : {}), [second]: value } }
}

function split(path: string): [string, string?] {
  const dot = path.indexOf(".")
  return dot < 0 ? [path] : [path.slice(0, dot), path.slice(dot + 1)]
}

const trimmed = (v: unknown) => (typeof v === "string" ? v.trim() : v)
const written = (v: unknown) => (typeof v === "object" && v !== null ? JSON.stringify(v) : String(trimmed(v) ?? ""))

/** Whether two values are one to whoever types them: a number and its digits, nothing and an empty text, a text and blanks around it. */
export const same = (a: unknown, b: unknown) => a === b || written(a) === written(b)

/**
 * A whole number as somebody types it. What is no number stays a text, so that the API says what is wrong with it; nothing is null, or
 * stays a text as well where there has to be a number.
 */
export const typedNumber = (text: string, required = false): number | string | null =>
  /^(0|-?[1-9]\d{0,14})$/.test(text.trim()) ? Number(text) : text.trim() === "" && !required ? null : text

/** The paths at which two states of a record differ. */
export function differing(a: object, b: object): string[] {
  const inside = (x: object, y: object, prefix: string): string[] =>
    [...new Set([...Object.keys(x), ...Object.keys(y)])].flatMap((name) => {
      const [v, w] = [(x as Record<string, unknown>)[name], (y as Record<string, unknown>)[name]]
      if (v === w) return []
      if (prefix === "" && isObject(v) && isObject(w)) return inside(v, w, name + ".")
      return same(v, w) ? [] : [prefix + name]
    })
  return inside(a, b, "")
}

/**
 * Puts what a person changed (mine, begun with base) upon what others made of the record meanwhile (theirs). clashes are the paths that
 * both changed to different values: there, mine stays.
 */
export function rebase<T extends object>(base: T, mine: T, theirs: T): { merged: T; clashes: string[] } {
  const kept = differing(base, mine).filter((path) => !same(at(mine, path), at(theirs, path)))
  return {
    merged: kept.reduce((merged, path) => put(merged, path, at(mine, path)), theirs),
    clashes: kept.filter((path) => !same(at(base, path), at(theirs, path))),
  }
}

/** What a save sends: the values that differ, the version that they differ from, and the record as it is with them. */
export type Sending<T> = { change: Partial<T>; version: string | undefined; whole: T }

export type Source<T extends object> = {
  /** Sends a change, and answers the record if the API does. */
  send: (sending: Sending<T>) => Promise<T | undefined>
  /** Loads the record after a refusal because of its version. */
  load: () => Promise<T>
  /** Keeps what the API answered, or what was sent where it answers nothing. */
  keep: (after: T) => void
  /** The record is a new one, which is sent even as it began. */
  creates?: boolean
}

/** A refusal that the draft shows itself. */
const clash = (e: object) => Object.assign(e, { shown: true })

/**
 * A person's changes of one record, from the version that they began with. base is the newest state that is known, mine the same with the
 * changes upon it, clashes the paths that somebody else has changed as well: none of them is saved before somebody has decided.
 */
export type State<T> = { base: T; mine: T; clashes: string[]; sending: boolean }

export class Draft<T extends object> {
  state: State<T>
  #sends: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #missed: T | undefined
  #watchers = new Set<() => void>()

  constructor(record: T) {
    this.state = { base: record, mine: record, clashes: [], sending: false }
  }

  follow = (watcher: () => void) => {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  #become(change: Partial<State<T>>) {
    this.state = { ...this.state, ...change }
    for (const watcher of this.#watchers) watcher()
  }

  get dirty(): string[] {
    return differing(this.state.base, this.state.mine)
  }

  set(path: string, value: unknown) {
    const { base, mine, clashes } = this.state
    this.#become({ mine: put(mine, path, value), clashes: same(value, at(base, path)) ? clashes.filter((p) => p !== path) : clashes })
  }

  /** Decides for mine where somebody else has changed the same: the next save replaces theirs. */
  keep(paths: string[]) {
    this.#become({ clashes: this.state.clashes.filter((path) => !paths.includes(path)) })
  }

  /** Takes the values of the record at some paths, or everywhere, in place of mine. */
  drop(paths?: string[]) {
    const { base, mine, clashes } = this.state
    if (!paths) this.#become({ mine: base, clashes: [] })
    else this.#become({ mine: paths.reduce((m, path) => put(m, path, at(base, path)), mine), clashes: clashes.filter((p) => !paths.includes(p)) })
  }

  /** Notes a state of the record, unless a later one is known. During a save it may already have what is being sent, so it waits for the answer. */
  see(record: T) {
    if (this.#waiting > 0) this.#missed = record
    else if (!isLater(this.state.base, record) && record !== this.state.base) this.#become(this.#onto(record))
  }

  #onto(theirs: T): Pick<State<T>, "base" | "mine" | "clashes"> {
    const { base, mine, clashes } = this.state
    const next = rebase(base, mine, theirs)
    const said = clashes.filter((path) => !same(at(next.merged, path), at(theirs, path)))
    return { base: theirs, mine: next.merged, clashes: [...new Set([...said, ...next.clashes])] }
  }

  /**
   * Sends the changes at some paths, or all, after the saves that were begun before. If somebody else changed other values meanwhile, the
   * change is sent again with their version. If they changed the same ones, these become clashes and the refusal is thrown; as long as
   * nobody has decided about them nothing is sent.
   */
  async save(source: Source<T>, paths = this.dirty): Promise<void> {
    const sent = paths.map((path) => [path, trimmed(at(this.state.mine, path))] as const)
    this.#waiting++
    this.#become({ sending: true })
    const send = this.#sends.then(() => this.#send(source, sent))
    this.#sends = send.catch(() => {})
    try {
      await send
    } finally {
      this.#waiting--
      const missed = this.#missed
      this.#become({ sending: this.#waiting > 0 })
      if (missed && this.#waiting === 0) {
        this.#missed = undefined
        this.see(missed)
      }
    }
  }

  /** Saves a value at once. A refusal takes it back, unless another one was set meanwhile, and is thrown. */
  async change(source: Source<T>, path: string, value: unknown) {
    this.set(path, value)
    try {
      await this.save(source, [path])
    } catch (e) {
      if (same(at(this.state.mine, path), value)) this.drop([path])
      throw e
    }
  }

  /** Waits for the saves that were begun, and reports whether something is left that is not saved. */
  async left(): Promise<boolean> {
    await this.#sends
    return this.dirty.length > 0
  }

  async #send(source: Source<T>, sent: (readonly [string, unknown])[]) {
    for (let tries = 1; ; tries++) {
      const base = this.state.base
      const changed = sent.filter(([path, value]) => !same(value, at(base, path)))
      const undecided = () => changed.some(([path]) => this.state.clashes.includes(path))
      if (undecided()) throw clash(new Fault("svc_version_mismatch", 412))
      if (changed.length === 0 && !source.creates) return
      const apply = <R extends object>(to: R) => changed.reduce((r, [path, value]) => put(r, path, value), to)
      const whole = apply(base)
      try {
        const after = (await source.send({ change: apply({}), version: versionOf(base), whole })) ?? whole
        if (this.#missed && !isLater(this.#missed, after)) this.#missed = undefined
        // What was sent and not changed since is the API's now, in the form that it gave it.
        const next = rebase(whole, this.state.mine, after)
        const clashes = next.clashes.filter((path) => changed.every(([p]) => p !== path))
        this.#become({ base: after, mine: next.merged, clashes: [...new Set([...this.state.clashes, ...clashes])] })
        source.keep(after)
        return
      } catch (e) {
        if ((e as { status?: number }).status !== 412 || tries === 5) throw e
        this.#become(this.#onto(await source.load()))
        if (undecided()) throw clash(e as object)
      }
    }
  }
}
