import { ContextMenu, DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "./cx";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  keys?: string;
  danger?: boolean;
  onSelect: () => void;
}

const PANEL = "animate-rise z-40 min-w-44 rounded-xl border border-line bg-raised p-1 shadow-float";
const ITEM =
  "flex h-8 items-center gap-2.5 rounded-lg px-2.5 text-sm outline-none select-none data-[highlighted]:bg-sunken max-md:h-11 [&_svg]:size-4 [&_svg]:text-ink-3";

function Line({ item }: { item: MenuItem }) {
  return (
    <>
      {item.icon}
      <span className="flex-1">{item.label}</span>
      {item.keys && <kbd className="pl-4 font-sans text-xs text-ink-3">{item.keys}</kbd>}
    </>
  );
}

interface Props {
  items: readonly MenuItem[];
  children: ReactNode;
  /** The focus goes elsewhere (a dialog, an input) when an item was chosen. */
  keepFocus?: boolean;
}

interface MenuProps extends Props {
  align?: "start" | "end";
  /** Whose it is, above the items. */
  heading?: string;
}

export function Menu({ items, children, align = "end", heading, keepFocus = false }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className={PANEL}
          {...(keepFocus ? { onCloseAutoFocus: (event: Event) => event.preventDefault() } : {})}
        >
          {heading && (
            <DropdownMenu.Label className="max-w-64 truncate px-2.5 py-1.5 text-[13px] text-ink-3">{heading}</DropdownMenu.Label>
          )}
          {items.map((item) => (
            <DropdownMenu.Item key={item.label} onSelect={item.onSelect} className={cx(ITEM, item.danger && "text-bad")}>
              <Line item={item} />
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function RightClick({ items, children }: Props) {
  return (
    <ContextMenu.Root modal={false}>
      <ContextMenu.Trigger asChild>{children}</ContextMenu.Trigger>
      <ContextMenu.Portal>
        <ContextMenu.Content
          collisionPadding={8}
          className={PANEL}
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          {items.map((item) => (
            <ContextMenu.Item key={item.label} onSelect={item.onSelect} className={cx(ITEM, item.danger && "text-bad")}>
              <Line item={item} />
            </ContextMenu.Item>
          ))}
        </ContextMenu.Content>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
}
