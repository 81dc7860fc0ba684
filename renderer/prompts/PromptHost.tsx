export function PromptHost() {
  return null;
}
