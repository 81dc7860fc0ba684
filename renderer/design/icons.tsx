/** Icons drawn here, on a 20 px grid with 1.5 px strokes; always beside a text or an accessible name. */
import type { ReactNode } from "react";

function Icon({ children, size = 20 }: { readonly children: ReactNode; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

export function BoardIcon() {
  return (
    <Icon>
      <rect x="2.5" y="4" width="15" height="4" rx="1" />
      <rect x="2.5" y="12" width="15" height="4" rx="1" />
      <path d="M7 4v4M12 4v4M9.5 12v4" />
    </Icon>
  );
}
export function TableIcon() {
  return (
    <Icon>
      <rect x="2.5" y="3.5" width="15" height="13" rx="1.5" />
      <path d="M2.5 8h15M2.5 12.2h15M8 8v8.5" />
    </Icon>
  );
}
export function QuotaIcon() {
  return (
    <Icon>
      <path d="M2.5 5h15M2.5 10h15M2.5 15h15" opacity="0.45" />
      <path d="M2.5 5h9M2.5 10h12M2.5 15h5" strokeWidth="2.5" />
      <path d="M16 3v4M16 8v4M16 13v4" />
    </Icon>
  );
}
export function RequestsIcon() {
  return (
    <Icon>
      <path d="M3 11.5 5 4.5h10l2 7v4H3zM3 11.5h4l1 2h4l1-2h4M10 10V6.5M8.4 8 10 6.4 11.6 8" />
    </Icon>
  );
}
export function TenantsIcon() {
  return (
    <Icon>
      <circle cx="7.5" cy="6.5" r="2.8" />
      <path d="M2.5 16v-1a4 4 0 0 1 4-4h2a4 4 0 0 1 4 4v1M13 4a2.8 2.8 0 0 1 0 5M15 11.4a4 4 0 0 1 2.5 3.6v1" />
    </Icon>
  );
}
export function RenameIcon() {
  return (
    <Icon size={16}>
      <path d="m4 16 .8-3.4L13 4.4l2.6 2.6-8.2 8.2zM11.4 6l2.6 2.6" />
    </Icon>
  );
}
export function ClustersIcon() {
  return (
    <Icon>
      <rect x="3" y="3" width="14" height="5.5" rx="1.2" />
      <rect x="3" y="11.5" width="14" height="5.5" rx="1.2" />
      <path d="M6 5.75h.01M6 14.25h.01M9 5.75h5M9 14.25h5" />
    </Icon>
  );
}
export function TroubleshootingIcon() {
  return (
    <Icon>
      <path d="M2.5 11h3l2-6 4 11 2.2-7 1 2h2.8" />
    </Icon>
  );
}
export function AuditIcon() {
  return (
    <Icon>
      <path d="M5 2.5h7l3.5 3.5v11.5H5zM12 2.5V6h3.5M7.5 10h5.5M7.5 13.5h5.5" />
    </Icon>
  );
}
export function SettingsIcon() {
  return (
    <Icon>
      <path d="M3 6h8M15 6h2M3 14h2M9 14h8" />
      <circle cx="13" cy="6" r="2" />
      <circle cx="7" cy="14" r="2" />
    </Icon>
  );
}
export function HelpIcon() {
  return (
    <Icon>
      <circle cx="10" cy="10" r="7.2" />
      <path d="M7.9 8a2.2 2.2 0 1 1 3.3 1.9c-.8.5-1.2.9-1.2 1.8M10 14.2h.01" />
    </Icon>
  );
}
export function SearchIcon() {
  return (
    <Icon size={16}>
      <circle cx="9" cy="9" r="5.2" />
      <path d="m13 13 4 4" />
    </Icon>
  );
}
export function CloseIcon() {
  return (
    <Icon size={16}>
      <path d="m5 5 10 10M15 5 5 15" />
    </Icon>
  );
}
export function BinIcon() {
  return (
    <Icon size={16}>
      <path d="M3.5 5.5h13M8 5.5V3.5h4v2M5 5.5l.8 11h8.4l.8-11M8.2 8.5v5M11.8 8.5v5" />
    </Icon>
  );
}
export function PlusIcon() {
  return (
    <Icon size={16}>
      <path d="M10 4v12M4 10h12" />
    </Icon>
  );
}
export function MinusIcon() {
  return (
    <Icon size={16}>
      <path d="M4 10h12" />
    </Icon>
  );
}
export function FitIcon() {
  return (
    <Icon size={16}>
      <path d="M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4" />
    </Icon>
  );
}
export function BackIcon() {
  return (
    <Icon size={16}>
      <path d="M12 4 6 10l6 6" />
    </Icon>
  );
}
export function DownloadIcon() {
  return (
    <Icon size={16}>
      <path d="M10 3v9M6.5 9 10 12.5 13.5 9M4 16.5h12" />
    </Icon>
  );
}
export function UndoIcon() {
  return (
    <Icon size={16}>
      <path d="M7 5 3.5 8.5 7 12M4 8.5h7.5a4 4 0 0 1 0 8H8" />
    </Icon>
  );
}
export function RedoIcon() {
  return (
    <Icon size={16}>
      <path d="m13 5 3.5 3.5L13 12M16 8.5H8.5a4 4 0 0 0 0 8H12" />
    </Icon>
  );
}
export function LettersIcon() {
  return (
    <Icon size={16}>
      <path d="M3 15 7 5l4 10M4.4 11.5h5.2M17 15V9.5a2.2 2.2 0 0 0-4.2-.8M17 11.6c-3-.2-4.3.4-4.3 1.8 0 2.2 3.4 2.1 4.3-.4" />
    </Icon>
  );
}
export function ChevronIcon() {
  return (
    <Icon size={16}>
      <path d="m6 8 4 4 4-4" />
    </Icon>
  );
}

/** The mark of Tessera: four tiles of one square. */
export function TesseraMark() {
  return (
    <svg width="28" height="28" viewBox="0 0 28 28" aria-hidden="true" focusable="false">
      <clipPath id="tessera-mark">
        <rect width="28" height="28" rx="7" />
      </clipPath>
      <g clipPath="url(#tessera-mark)">
        <path fill="#8f66cf" d="M0 0h28L14 14z" />
        <path fill="#2563eb" d="M28 0v28L14 14z" />
        <path fill="#e08b3a" d="M0 28h28L14 14z" />
        <path fill="#2a9c85" d="M0 0v28l14-14z" />
      </g>
    </svg>
  );
}
