// The cache of what the API answered.
import { notifyManager, QueryClient, replaceEqualDeep } from "@tanstack/react-query"
import { asFault } from "@/api/fault"
import { noteVersion, versionOf } from "@/api/version"

// A changed value is drawn before the next event: a box that was ticked stays so while its change is sent.
notifyManager.setScheduler(queueMicrotask)

/** Keeps the parts of what was there that are the same in what has come, so that they are not drawn anew, with the version that came. */
function shared(old: unknown, next: unknown): unknown {
  const kept = replaceEqualDeep(old, next)
  return typeof next === "object" && next !== null ? noteVersion(kept, versionOf(next)) : kept
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      gcTime: 30 * 60_000,
      // Without a connection a screen says so, instead of waiting for one.
      networkMode: "always",
      refetchOnReconnect: true,
      retry: (count, e) => count < 2 && asFault(e).passing,
      retryDelay: (count, e) => Math.max(asFault(e).wait * 1000, 500 * 2 ** count),
      structuralSharing: shared,
    },
  },
})
