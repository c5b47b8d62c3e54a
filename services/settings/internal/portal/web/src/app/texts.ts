// The texts of every folder: text/<language>.json, whose keys begin with the folder's name. A screen's texts load with its program.
import type frame from "@/frame/text/en.json"
import type booking from "@/booking/text/en.json"
import type contacts from "@/contacts/text/en.json"
import type forms from "@/forms/text/en.json"
import type parts from "@/parts/text/en.json"
import type settings from "@/settings/text/en.json"
import type team from "@/team/text/en.json"
import type views from "@/views/text/en.json"
import type webhooks from "@/webhooks/text/en.json"
import { addTexts, language } from "@/kit/text"

type All = typeof frame & typeof contacts & typeof parts & typeof booking & typeof forms & typeof webhooks & typeof settings & typeof team & typeof views
declare module "@/kit/text" {
  interface Texts extends All {}
}

export type Folder = "kit" | "frame" | "parts" | "views" | "contacts" | "booking" | "forms" | "webhooks" | "settings" | "team"

const files = import.meta.glob<{ default: Record<string, string> }>("../*/text/*.json")
const loaded = new Map<Folder, Promise<void>>()

/** Loads the texts of a folder in the person's language, once. */
export function loadTexts(folder: Folder): Promise<void> {
  let load = loaded.get(folder)
  if (!load) {
    load = files[`../${folder}/text/${language}.json`]!().then((m) => addTexts(m.default))
    loaded.set(folder, load)
    load.catch(() => loaded.delete(folder))
  }
  return load
}

/** Loads the texts of what stands in the frame and of its dialogs, which no first paint waits for. */
export const loadFrame = () => Promise.all([loadTexts("frame"), loadTexts("parts")])

/** A part of the frame with its texts. */
export const worded = <M>(load: () => Promise<M>) => (): Promise<M> => Promise.all([load(), loadFrame()]).then(([m]) => m)
