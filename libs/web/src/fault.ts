/** A refusal in the shape of every endpoint: a code, a message and facts. Without an answer the code is "offline". */
export class Fault extends Error {
  constructor(
    readonly code: string,
    readonly status: number,
    readonly data: Record<string, any> = {},
    message = code,
  ) {
    super(message)
  }
}

/** What a Fault is made of, from an answer and its body; the body of a proxy's own answer may be anything. */
export const refused = ({ status }: Response, body: any) => [body?.code ?? (status >= 500 ? "svc_unavailable" : "svc_no_route"), status, { ...body?.data }, body?.message] as [string, number, Record<string, any>, string?]
