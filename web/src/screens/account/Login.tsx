import { useT } from "@/i18n/t";
import { Door } from "./Door";
import { LoginForm } from "./LoginForm";

export function Login() {
  const t = useT();
  return (
    <Door title={t("login.title")}>
      <LoginForm />
    </Door>
  );
}
