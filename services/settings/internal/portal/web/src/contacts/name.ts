import type { Schema } from "@/api/client"

type Named = Pick<Schema<"Contact">, "first_name" | "last_name" | "email" | "phone">

/** How a contact is called: by name, else by address or number. The same rule as the API's. */
export const nameOf = (c: Named) => `${c.first_name} ${c.last_name}`.trim() || c.email || c.phone
