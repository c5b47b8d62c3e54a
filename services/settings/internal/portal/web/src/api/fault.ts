import { Fault as Refusal, refused } from "@/../../../../../../libs/web/src/fault"
import type { Problem } from "@/../../../../../../libs/web/src/problem"
export type { Problem }

/** A refusal, and what a screen does about it. */
export class Fault extends Refusal {
  /** Whether a draft shows itself what is wrong: what somebody else has changed as well. */
  shown = false

  static async of(response: Response): Promise<Fault> {
    const fault = new Fault(...refused(response, await response.json().catch(() => undefined)))
    const wait = Number(response.headers.get("Retry-After"))
    if (wait > 0) fault.data.retry_after = wait
    return fault
  }

  /** Problems by the name of the parameter. */
  get details(): Record<string, Problem> {
    return (this.data.details as Record<string, Problem> | undefined) ?? {}
  }

  /** Seconds to wait before the next attempt; 0 when none are asked for. */
  get wait(): number {
    return Number(this.data.retry_after) || 0
  }

  /** Whether the same call may succeed a little later. */
  get passing(): boolean {
    return this.code === "offline" || this.status === 429 || this.status >= 500
  }
}

export const asFault = (e: unknown) => (e instanceof Fault ? e : new Fault("internal", 0, {}, String(e)))
