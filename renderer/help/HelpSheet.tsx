export function HelpSheet() {
  return null;
}
