import { newKey } from "@/../../../../../../libs/web/src/key"

/** The keys of one act, such as saving a form. Every attempt with the same words gets the same key, until that attempt is settled. */
export class Keys {
  #last = { words: "", key: "" }

  of(words: string): string {
    if (this.#last.key === "" || this.#last.words !== words) this.#last = { words, key: newKey() }
    return this.#last.key
  }

  /** The attempt with these words has its answer, so the same words are a new act. Other words that were sent meanwhile keep their key. */
  settle(words: string) {
    if (this.#last.words === words) this.#last = { words: "", key: "" }
  }
}
