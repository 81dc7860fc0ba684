export function ClustersView() {
  return null;
}
