// What is kept of a list under a name.
import { queryOptions } from "@tanstack/react-query"
import { api, take, type Schema } from "@/api/client"

export type View = Schema<"View">
export type Entity = View["entity"]
/** Parameters of a list, as a view keeps them. */
export type Query = View["query"]
/** What stands in the address of a list. */
export type Search = { [name: string]: string | undefined }

/** A list as it is shown now, to be kept. */
export type Listed = {
  entity: Entity
  views: View[]
  query: Query
  columns: string[]
  /** The address that shows what a view keeps. */
  address: (q: Query) => Search
  /** Its own columns are kept. */
  settle: () => void
}

export const viewsQuery = (entity: Entity) =>
  queryOptions({ queryKey: ["views", entity], queryFn: async () => (await take(api.GET("/views", { params: { query: { entity } } }))).items, staleTime: 60_000 })
