import { t, tOr } from "@/kit/text"
import type { FormRecord, Submission } from "./data"

export const FormStatus = ({ status }: { status: FormRecord["status"] }) => <span className={`mark mark--${status === "publish" ? "good" : "off"}`}>{t(`forms.status.${status}`)}</span>

/** Why a submission is taken for spam: the rule in words, and what it found. */
export function spamReason(reason: string): string {
  const [rule = "", ...found] = reason.split(": ")
  return tOr("forms.spam." + rule, rule) + (found.length > 0 ? ` (${found.join(": ")})` : "")
}

/** Received, spam, or still waiting for its contact. */
export function SubmissionStatus({ s }: { s: Submission }) {
  const state = s.status === "spam" ? "spam" : s.error ? "error" : s.result.contact === "pending" ? "pending" : "received"
  const look = { spam: "bad", error: "bad", pending: "warn", received: "good" }
  return <span className={`mark mark--${look[state]}`}>{t(`forms.submission.${state}`)}</span>
}
