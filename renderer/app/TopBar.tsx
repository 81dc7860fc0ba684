import { useSnapshot } from "../stores/snapshot.ts";

export function TopBar() {
  const name = useSnapshot((state) => state.clusterName);
  return <header className="top-bar">{name === null ? null : <h1>{name}</h1>}</header>;
}
