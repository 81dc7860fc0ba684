/** The few controls that more than one view needs. Menus, dialogs and tabs come from react-aria-components. */
import { type ReactNode, useId } from "react";

export function Key({ children }: { readonly children: ReactNode }) {
  return <kbd className="key">{children}</kbd>;
}

export function IconButton({
  label,
  onPress,
  children,
  disabled = false,
}: {
  readonly label: string;
  readonly onPress: () => void;
  readonly children: ReactNode;
  readonly disabled?: boolean;
}) {
  return (
    <button
      type="button"
      className="button quiet icon"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onPress}
    >
      {children}
    </button>
  );
}

export interface Segment<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly title?: string;
}

/** Radio buttons drawn as joined segments; arrows move as the browser has it. */
export function Segments<T extends string>({
  label,
  segments,
  value,
  onChange,
}: {
  readonly label: string;
  readonly segments: readonly Segment<T>[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}) {
  const name = useId();
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">{label}</legend>
      {segments.map((segment) => (
        <label key={segment.value} title={segment.title}>
          <input
            type="radio"
            className="visually-hidden"
            name={name}
            checked={segment.value === value}
            onChange={() => onChange(segment.value)}
          />
          <span>{segment.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** A state that fills a view: says what is going on, since when, and what to do. */
export function Notice({
  title,
  children,
  action,
  tone = "calm",
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  readonly tone?: "calm" | "warning" | "bad";
}) {
  return (
    <div className="notice" data-tone={tone}>
      <h2>{title}</h2>
      {children === undefined ? null : <div className="notice-text">{children}</div>}
      {action === undefined ? null : <div className="notice-action">{action}</div>}
    </div>
  );
}
