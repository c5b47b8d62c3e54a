// Keys, states and columns that the screens of imports share.
import type { Schema } from "@/api/client"

export type Listed = Schema<"ListedImport">
export type ImportRecord = Schema<"Import">
export type PreviewedColumn = Schema<"ImportPreview">["columns"][number]

export const importKey = (id: string) => ["imports", "one", id]
/** Where the texts begin that say why a file or a row was not imported: why of kit/why takes it. */
export const importWhy = "contacts.import_why."
export const running = (m: Pick<Listed, "status"> | undefined) => m?.status === "queued" || m?.status === "running" || m?.status === "undoing"
export const targets = ["first_name", "last_name", "email", "phone", "organization", "owner", "status", "source", "tags"] as const
