import { FileText } from "lucide-react"
import { api, take } from "@/api/client"
import type { Source } from "@/kit/place"
import { plain } from "@/kit/plain"

export const formSources: Source[] = [
  {
    label: "frame.palette.forms",
    app: "forms",
    find: async (words, signal) => {
      const forms = (await take(api.GET("/forms", { signal }))).items
      return forms.filter((f) => plain(f.name).includes(plain(words))).slice(0, 5).map((f) => ({ id: String(f.id), title: f.name, detail: f.used_on[0]?.title, icon: FileText, to: "/forms/$id", params: { id: String(f.id) } }))
    },
  },
]
