/** What is wrong with one parameter: a code, and facts such as max. */
export type Problem = { code: string; message?: string } & Record<string, unknown>

/** A refusal in the shape of every endpoint: code, message and facts. Without an answer the code is "offline". */
export class Fault extends Error {
  /** Whether a draft shows itself what is wrong: what somebody else has changed as well. */
  shown = false

  constructor(
    readonly code: string,
    readonly status: number,
    readonly data: Record<string, unknown> = {},
    message = code,
  ) {
    super(message)
  }

  static async of(response: Response): Promise<Fault> {
    const body = await response.json().catch(() => undefined)
    const data = { ...body?.data }
    const wait = Number(response.headers.get("Retry-After"))
    if (wait > 0) data.retry_after = wait
    return new Fault(body?.code ?? (response.status >= 500 ? "svc_unavailable" : "svc_no_route"), response.status, data, body?.message)
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
