export function TroubleshootingView() {
  return null;
}
