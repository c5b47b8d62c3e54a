// The rules by which n8n takes community nodes.
import { n8nCommunityNodesPlugin } from "@n8n/eslint-plugin-community-nodes"
import nodesBase from "eslint-plugin-n8n-nodes-base"
import jsonc from "jsonc-eslint-parser"
import tseslint from "typescript-eslint"

const rules = (name) => nodesBase.configs[name].rules
export default tseslint.config(
  { ignores: ["dist/**", "node_modules/**", "test/**", "*.mjs"] },
  { files: ["**/*.ts"], extends: [tseslint.configs.recommended, n8nCommunityNodesPlugin.configs.recommended] },
  { files: ["package.json"], plugins: { "n8n-nodes-base": nodesBase }, rules: rules("community"), languageOptions: { parser: jsonc } },
  { files: ["credentials/**/*.ts"], plugins: { "n8n-nodes-base": nodesBase }, rules: { ...rules("credentials"), "n8n-nodes-base/cred-class-field-documentation-url-miscased": "off" } },
  { files: ["nodes/**/*.ts"], plugins: { "n8n-nodes-base": nodesBase }, rules: { ...rules("nodes"), "n8n-nodes-base/node-class-description-inputs-wrong-regular-node": "off", "n8n-nodes-base/node-class-description-outputs-wrong": "off" } },
)
