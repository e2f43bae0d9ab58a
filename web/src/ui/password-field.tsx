import { Eye, EyeOff } from "lucide-react";
import { useState, type ComponentProps } from "react";
import { useT } from "@/i18n/t";
import { IconButton } from "./button";
import { Field } from "./field";

/** A password that one may look at, which saves typing it twice. */
export function PasswordField(props: Omit<ComponentProps<typeof Field>, "type">) {
  const t = useT();
  const [isShown, setShown] = useState(false);
  return (
    <div className="relative">
      <Field
        {...props}
        type={isShown ? "text" : "password"}
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        className="[&_input]:pr-11 max-md:[&_input]:pr-13"
      />
      <IconButton
        label={isShown ? t("password.hide") : t("password.show")}
        onClick={() => setShown(!isShown)}
        className="absolute top-[30px] right-1 max-md:top-[26px] max-md:right-0"
      >
        {isShown ? <EyeOff aria-hidden /> : <Eye aria-hidden />}
      </IconButton>
    </div>
  );
}
