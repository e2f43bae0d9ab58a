import type { components, operations } from "./schema";

type Schemas = components["schemas"];

export type WireEvent = Schemas["Event"];
export type Fact<T extends WireEvent["type"]> = Extract<WireEvent, { type: T }>;
export type Project = Schemas["Project"];
export type Entry = Schemas["Entry"];
export type Hit = Schemas["Hit"];
export type NewProjectIn = Schemas["NewProjectIn"];
export type Template = Schemas["Template"];
export type FileText = Schemas["FileText"];
export type Version = Schemas["Version"];
export type Session = Schemas["Session"];
export type Run = Schemas["Run"];
export type Snapshot = Schemas["Snapshot"];
export type Settings = Schemas["SettingsOut"];
export type SettingsIn = Schemas["SettingsIn"];
export type TestResult = Schemas["TestResult"];
export type ProbeState = Schemas["ProbeState"];
export type ModelState = Schemas["ModelState"];
export type Usage = Schemas["Usage"];
export type ToolResult = Schemas["ToolResult"];
export type ImportOut = Schemas["ImportOut"];
export type Format = operations["export_file"]["parameters"]["query"]["format"];
