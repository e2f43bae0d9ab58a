import type { Lang } from "@/i18n/t";

const LOCALES: Record<Lang, string> = { zh: "zh-CN", en: "en" };

export function formatNumber(value: number, lang: Lang): string {
  return new Intl.NumberFormat(LOCALES[lang]).format(value);
}

/** 1 234 → 1.2k: the same short form in both languages, as the field writes token counts. */
export function formatTokens(value: number): string {
  return value < 1000 ? String(value) : `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)}k`;
}

export function formatBytes(value: number): string {
  const units = ["B", "KB", "MB", "GB"];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${at === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

export function formatSeconds(value: number): string {
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 60) return `${Math.round(value)} s`;
  return formatElapsed(value);
}

/** A clock that runs: 0:07, 12:30. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** "3 hours ago" within a week, the date before that. `at` and `now` are Unix seconds. */
export function formatWhen(at: number, now: number, lang: Lang): string {
  const ago = now - at;
  if (ago > 7 * 86_400) {
    return formatDay(at, lang);
  }
  const relative = new Intl.RelativeTimeFormat(LOCALES[lang], { numeric: "auto" });
  for (const [unit, size] of STEPS) {
    if (ago >= size) return relative.format(-Math.floor(ago / size), unit);
  }
  return relative.format(0, "minute");
}

export function formatClock(at: number, lang: Lang): string {
  return new Intl.DateTimeFormat(LOCALES[lang], { hour: "2-digit", minute: "2-digit" }).format(at * 1000);
}

export function formatDay(at: number, lang: Lang): string {
  return new Intl.DateTimeFormat(LOCALES[lang], { dateStyle: "medium" }).format(at * 1000);
}

/** To the second, as a log needs it. */
export function formatMoment(at: number, lang: Lang): string {
  return new Intl.DateTimeFormat(LOCALES[lang], { dateStyle: "medium", timeStyle: "medium" }).format(at * 1000);
}
