/* Made by tools/make_builtin_files: the files of google/protobuf and google/type that descriptor
 * sets need not bring, as serialized FileDescriptorProtos.
 */
#include "proto/builtin_files.h"

#include <string.h>

/* clang-format off */

/* google/protobuf/any.proto */
static const char file_0[] =
    "\12\31google/protobuf/any.proto\22\17google.protobuf\"&\12\3Any\22\20\12\10type_url\30\1 \1("
    "\11\22\15\12\5value\30\2 \1(\14b\6proto3";

/* google/protobuf/api.proto */
static const char file_1[] =
    "\12\31google/protobuf/api.proto\22\17google.protobuf\32$google/protobuf/source_context.proto"
    "\32\32google/protobuf/type.proto\"\222\2\12\3Api\22\14\12\4name\30\1 \1(\11\22(\12\7methods"
    "\30\2 \3(\0132\27.google.protobuf.Method\22(\12\7options\30\3 \3(\0132\27.google.protobuf.Op"
    "tion\22\17\12\7version\30\4 \1(\11\0226\12\16source_context\30\5 \1(\0132\36.google.protobuf"
    ".SourceContext\22&\12\6mixins\30\6 \3(\0132\26.google.protobuf.Mixin\22'\12\6syntax\30\7 \1("
    "\0162\27.google.protobuf.Syntax\22\17\12\7edition\30\10 \1(\11\"\346\1\12\6Method\22\14\12\4"
    "name\30\1 \1(\11\22\30\12\20request_type_url\30\2 \1(\11\22\31\12\21request_streaming\30\3 "
    "\1(\10\22\31\12\21response_type_url\30\4 \1(\11\22\32\12\22response_streaming\30\5 \1(\10\22"
    "(\12\7options\30\6 \3(\0132\27.google.protobuf.Option\22'\12\6syntax\30\7 \1(\0162\27.google"
    ".protobuf.Syntax\22\17\12\7edition\30\10 \1(\11\"#\12\5Mixin\22\14\12\4name\30\1 \1(\11\22"
    "\14\12\4root\30\2 \1(\11b\6proto3";

/* google/protobuf/descriptor.proto */
static const char file_2[] =
    "\12 google/protobuf/descriptor.proto\22\17google.protobuf\"G\12\21FileDescriptorSet\0222\12"
    "\4file\30\1 \3(\0132$.google.protobuf.FileDescriptorProto\"\241\4\12\23FileDescriptorProto"
    "\22\14\12\4name\30\1 \1(\11\22\17\12\7package\30\2 \1(\11\22\22\12\12dependency\30\3 \3(\11"
    "\22\31\12\21public_dependency\30\12 \3(\5\22\27\12\17weak_dependency\30\13 \3(\5\22\31\12\21"
    "option_dependency\30\17 \3(\11\0226\12\14message_type\30\4 \3(\0132 .google.protobuf.Descrip"
    "torProto\0227\12\11enum_type\30\5 \3(\0132$.google.protobuf.EnumDescriptorProto\0228\12\7ser"
    "vice\30\6 \3(\0132'.google.protobuf.ServiceDescriptorProto\0228\12\11extension\30\7 \3(\0132"
    "%.google.protobuf.FieldDescriptorProto\22-\12\7options\30\10 \1(\0132\34.google.protobuf.Fil"
    "eOptions\0229\12\20source_code_info\30\11 \1(\0132\37.google.protobuf.SourceCodeInfo\22\16"
    "\12\6syntax\30\14 \1(\11\22)\12\7edition\30\16 \1(\0162\30.google.protobuf.Edition\"\340\5"
    "\12\17DescriptorProto\22\14\12\4name\30\1 \1(\11\0224\12\5field\30\2 \3(\0132%.google.protob"
    "uf.FieldDescriptorProto\0228\12\11extension\30\6 \3(\0132%.google.protobuf.FieldDescriptorPr"
    "oto\0225\12\13nested_type\30\3 \3(\0132 .google.protobuf.DescriptorProto\0227\12\11enum_type"
    "\30\4 \3(\0132$.google.protobuf.EnumDescriptorProto\22H\12\17extension_range\30\5 \3(\0132/."
    "google.protobuf.DescriptorProto.ExtensionRange\0229\12\12oneof_decl\30\10 \3(\0132%.google.p"
    "rotobuf.OneofDescriptorProto\0220\12\7options\30\7 \1(\0132\37.google.protobuf.MessageOption"
    "s\22F\12\16reserved_range\30\11 \3(\0132..google.protobuf.DescriptorProto.ReservedRange\22"
    "\25\12\15reserved_name\30\12 \3(\11\0225\12\12visibility\30\13 \1(\0162!.google.protobuf.Sym"
    "bolVisibility\32e\12\16ExtensionRange\22\15\12\5start\30\1 \1(\5\22\13\12\3end\30\2 \1(\5"
    "\0227\12\7options\30\3 \1(\0132&.google.protobuf.ExtensionRangeOptions\32+\12\15ReservedRang"
    "e\22\15\12\5start\30\1 \1(\5\22\13\12\3end\30\2 \1(\5\"\312\3\12\25ExtensionRangeOptions\22C"
    "\12\24uninterpreted_option\30\347\7 \3(\0132$.google.protobuf.UninterpretedOption\22G\12\13d"
    "eclaration\30\2 \3(\01322.google.protobuf.ExtensionRangeOptions.Declaration\22-\12\10feature"
    "s\0302 \1(\0132\33.google.protobuf.FeatureSet\22Z\12\14verification\30\3 \1(\01628.google.pr"
    "otobuf.ExtensionRangeOptions.VerificationState:\12UNVERIFIED\32b\12\13Declaration\22\16\12\6"
    "number\30\1 \1(\5\22\21\12\11full_name\30\2 \1(\11\22\14\12\4type\30\3 \1(\11\22\20\12\10res"
    "erved\30\5 \1(\10\22\20\12\10repeated\30\6 \1(\10\"4\12\21VerificationState\22\17\12\13DECLA"
    "RATION\20\0\22\16\12\12UNVERIFIED\20\1\"\325\5\12\24FieldDescriptorProto\22\14\12\4name\30\1"
    " \1(\11\22\16\12\6number\30\3 \1(\5\22:\12\5label\30\4 \1(\0162+.google.protobuf.FieldDescri"
    "ptorProto.Label\0228\12\4type\30\5 \1(\0162*.google.protobuf.FieldDescriptorProto.Type\22\21"
    "\12\11type_name\30\6 \1(\11\22\20\12\10extendee\30\2 \1(\11\22\25\12\15default_value\30\7 \1"
    "(\11\22\23\12\13oneof_index\30\11 \1(\5\22\21\12\11json_name\30\12 \1(\11\22.\12\7options\30"
    "\10 \1(\0132\35.google.protobuf.FieldOptions\22\27\12\17proto3_optional\30\21 \1(\10\"\266\2"
    "\12\4Type\22\17\12\13TYPE_DOUBLE\20\1\22\16\12\12TYPE_FLOAT\20\2\22\16\12\12TYPE_INT64\20\3"
    "\22\17\12\13TYPE_UINT64\20\4\22\16\12\12TYPE_INT32\20\5\22\20\12\14TYPE_FIXED64\20\6\22\20"
    "\12\14TYPE_FIXED32\20\7\22\15\12\11TYPE_BOOL\20\10\22\17\12\13TYPE_STRING\20\11\22\16\12\12T"
    "YPE_GROUP\20\12\22\20\12\14TYPE_MESSAGE\20\13\22\16\12\12TYPE_BYTES\20\14\22\17\12\13TYPE_UI"
    "NT32\20\15\22\15\12\11TYPE_ENUM\20\16\22\21\12\15TYPE_SFIXED32\20\17\22\21\12\15TYPE_SFIXED6"
    "4\20\20\22\17\12\13TYPE_SINT32\20\21\22\17\12\13TYPE_SINT64\20\22\"C\12\5Label\22\22\12\16LA"
    "BEL_OPTIONAL\20\1\22\22\12\16LABEL_REPEATED\20\3\22\22\12\16LABEL_REQUIRED\20\2\"T\12\24Oneo"
    "fDescriptorProto\22\14\12\4name\30\1 \1(\11\22.\12\7options\30\2 \1(\0132\35.google.protobuf"
    ".OneofOptions\"\333\2\12\23EnumDescriptorProto\22\14\12\4name\30\1 \1(\11\0228\12\5value\30"
    "\2 \3(\0132).google.protobuf.EnumValueDescriptorProto\22-\12\7options\30\3 \1(\0132\34.googl"
    "e.protobuf.EnumOptions\22N\12\16reserved_range\30\4 \3(\01326.google.protobuf.EnumDescriptor"
    "Proto.EnumReservedRange\22\25\12\15reserved_name\30\5 \3(\11\0225\12\12visibility\30\6 \1("
    "\0162!.google.protobuf.SymbolVisibility\32/\12\21EnumReservedRange\22\15\12\5start\30\1 \1("
    "\5\22\13\12\3end\30\2 \1(\5\"l\12\30EnumValueDescriptorProto\22\14\12\4name\30\1 \1(\11\22"
    "\16\12\6number\30\2 \1(\5\0222\12\7options\30\3 \1(\0132!.google.protobuf.EnumValueOptions\""
    "\220\1\12\26ServiceDescriptorProto\22\14\12\4name\30\1 \1(\11\0226\12\6method\30\2 \3(\0132&"
    ".google.protobuf.MethodDescriptorProto\0220\12\7options\30\3 \1(\0132\37.google.protobuf.Ser"
    "viceOptions\"\301\1\12\25MethodDescriptorProto\22\14\12\4name\30\1 \1(\11\22\22\12\12input_t"
    "ype\30\2 \1(\11\22\23\12\13output_type\30\3 \1(\11\22/\12\7options\30\4 \1(\0132\36.google.p"
    "rotobuf.MethodOptions\22\37\12\20client_streaming\30\5 \1(\10:\5false\22\37\12\20server_stre"
    "aming\30\6 \1(\10:\5false\"\232\6\12\13FileOptions\22\24\12\14java_package\30\1 \1(\11\22\34"
    "\12\24java_outer_classname\30\10 \1(\11\22\"\12\23java_multiple_files\30\12 \1(\10:\5false"
    "\22%\12\35java_generate_equals_and_hash\30\24 \1(\10\22%\12\26java_string_check_utf8\30\33 "
    "\1(\10:\5false\22F\12\14optimize_for\30\11 \1(\0162).google.protobuf.FileOptions.OptimizeMod"
    "e:\5SPEED\22\22\12\12go_package\30\13 \1(\11\22\"\12\23cc_generic_services\30\20 \1(\10:\5fa"
    "lse\22$\12\25java_generic_services\30\21 \1(\10:\5false\22\"\12\23py_generic_services\30\22 "
    "\1(\10:\5false\22\31\12\12deprecated\30\27 \1(\10:\5false\22\36\12\20cc_enable_arenas\30\37 "
    "\1(\10:\4true\22\31\12\21objc_class_prefix\30$ \1(\11\22\30\12\20csharp_namespace\30% \1(\11"
    "\22\24\12\14swift_prefix\30' \1(\11\22\30\12\20php_class_prefix\30( \1(\11\22\25\12\15php_na"
    "mespace\30) \1(\11\22\36\12\26php_metadata_namespace\30, \1(\11\22\24\12\14ruby_package\30- "
    "\1(\11\22-\12\10features\0302 \1(\0132\33.google.protobuf.FeatureSet\22C\12\24uninterpreted_"
    "option\30\347\7 \3(\0132$.google.protobuf.UninterpretedOption\":\12\14OptimizeMode\22\11\12"
    "\5SPEED\20\1\22\15\12\11CODE_SIZE\20\2\22\20\12\14LITE_RUNTIME\20\3\"\272\2\12\16MessageOpti"
    "ons\22&\12\27message_set_wire_format\30\1 \1(\10:\5false\22.\12\37no_standard_descriptor_acc"
    "essor\30\2 \1(\10:\5false\22\31\12\12deprecated\30\3 \1(\10:\5false\22\21\12\11map_entry\30"
    "\7 \1(\10\22.\12&deprecated_legacy_json_field_conflicts\30\13 \1(\10\22-\12\10features\30\14"
    " \1(\0132\33.google.protobuf.FeatureSet\22C\12\24uninterpreted_option\30\347\7 \3(\0132$.goo"
    "gle.protobuf.UninterpretedOption\"\243\13\12\14FieldOptions\22:\12\5ctype\30\1 \1(\0162#.goo"
    "gle.protobuf.FieldOptions.CType:\6STRING\22\16\12\6packed\30\2 \1(\10\22\77\12\6jstype\30\6 "
    "\1(\0162$.google.protobuf.FieldOptions.JSType:\11JS_NORMAL\22\23\12\4lazy\30\5 \1(\10:\5fals"
    "e\22\36\12\17unverified_lazy\30\17 \1(\10:\5false\22\31\12\12deprecated\30\3 \1(\10:\5false"
    "\22\23\12\4weak\30\12 \1(\10:\5false\22\33\12\14debug_redact\30\20 \1(\10:\5false\22@\12\11r"
    "etention\30\21 \1(\0162-.google.protobuf.FieldOptions.OptionRetention\22\77\12\7targets\30"
    "\23 \3(\0162..google.protobuf.FieldOptions.OptionTargetType\22F\12\20edition_defaults\30\24 "
    "\3(\0132,.google.protobuf.FieldOptions.EditionDefault\22-\12\10features\30\25 \1(\0132\33.go"
    "ogle.protobuf.FeatureSet\22E\12\17feature_support\30\26 \1(\0132,.google.protobuf.FieldOptio"
    "ns.FeatureSupport\22C\12\24uninterpreted_option\30\347\7 \3(\0132$.google.protobuf.Uninterpr"
    "etedOption\32J\12\16EditionDefault\22)\12\7edition\30\3 \1(\0162\30.google.protobuf.Edition"
    "\22\15\12\5value\30\2 \1(\11\32\343\1\12\16FeatureSupport\0224\12\22edition_introduced\30\1 "
    "\1(\0162\30.google.protobuf.Edition\0224\12\22edition_deprecated\30\2 \1(\0162\30.google.pro"
    "tobuf.Edition\22\33\12\23deprecation_warning\30\3 \1(\11\0221\12\17edition_removed\30\4 \1("
    "\0162\30.google.protobuf.Edition\22\25\12\15removal_error\30\5 \1(\11\"/\12\5CType\22\12\12"
    "\6STRING\20\0\22\10\12\4CORD\20\1\22\20\12\14STRING_PIECE\20\2\"5\12\6JSType\22\15\12\11JS_N"
    "ORMAL\20\0\22\15\12\11JS_STRING\20\1\22\15\12\11JS_NUMBER\20\2\"U\12\17OptionRetention\22\25"
    "\12\21RETENTION_UNKNOWN\20\0\22\25\12\21RETENTION_RUNTIME\20\1\22\24\12\20RETENTION_SOURCE"
    "\20\2\"\214\2\12\20OptionTargetType\22\27\12\23TARGET_TYPE_UNKNOWN\20\0\22\24\12\20TARGET_TY"
    "PE_FILE\20\1\22\37\12\33TARGET_TYPE_EXTENSION_RANGE\20\2\22\27\12\23TARGET_TYPE_MESSAGE\20\3"
    "\22\25\12\21TARGET_TYPE_FIELD\20\4\22\25\12\21TARGET_TYPE_ONEOF\20\5\22\24\12\20TARGET_TYPE_"
    "ENUM\20\6\22\32\12\26TARGET_TYPE_ENUM_ENTRY\20\7\22\27\12\23TARGET_TYPE_SERVICE\20\10\22\26"
    "\12\22TARGET_TYPE_METHOD\20\11\"\202\1\12\14OneofOptions\22-\12\10features\30\1 \1(\0132\33."
    "google.protobuf.FeatureSet\22C\12\24uninterpreted_option\30\347\7 \3(\0132$.google.protobuf."
    "UninterpretedOption\"\341\1\12\13EnumOptions\22\23\12\13allow_alias\30\2 \1(\10\22\31\12\12d"
    "eprecated\30\3 \1(\10:\5false\22.\12&deprecated_legacy_json_field_conflicts\30\6 \1(\10\22-"
    "\12\10features\30\7 \1(\0132\33.google.protobuf.FeatureSet\22C\12\24uninterpreted_option\30"
    "\347\7 \3(\0132$.google.protobuf.UninterpretedOption\"\205\2\12\20EnumValueOptions\22\31\12"
    "\12deprecated\30\1 \1(\10:\5false\22-\12\10features\30\2 \1(\0132\33.google.protobuf.Feature"
    "Set\22\33\12\14debug_redact\30\3 \1(\10:\5false\22E\12\17feature_support\30\4 \1(\0132,.goog"
    "le.protobuf.FieldOptions.FeatureSupport\22C\12\24uninterpreted_option\30\347\7 \3(\0132$.goo"
    "gle.protobuf.UninterpretedOption\"\237\1\12\16ServiceOptions\22-\12\10features\30\" \1(\0132"
    "\33.google.protobuf.FeatureSet\22\31\12\12deprecated\30! \1(\10:\5false\22C\12\24uninterpret"
    "ed_option\30\347\7 \3(\0132$.google.protobuf.UninterpretedOption\"\321\2\12\15MethodOptions"
    "\22\31\12\12deprecated\30! \1(\10:\5false\22_\12\21idempotency_level\30\" \1(\0162/.google.p"
    "rotobuf.MethodOptions.IdempotencyLevel:\23IDEMPOTENCY_UNKNOWN\22-\12\10features\30# \1(\0132"
    "\33.google.protobuf.FeatureSet\22C\12\24uninterpreted_option\30\347\7 \3(\0132$.google.proto"
    "buf.UninterpretedOption\"P\12\20IdempotencyLevel\22\27\12\23IDEMPOTENCY_UNKNOWN\20\0\22\23"
    "\12\17NO_SIDE_EFFECTS\20\1\22\16\12\12IDEMPOTENT\20\2\"\236\2\12\23UninterpretedOption\22;"
    "\12\4name\30\2 \3(\0132-.google.protobuf.UninterpretedOption.NamePart\22\30\12\20identifier_"
    "value\30\3 \1(\11\22\32\12\22positive_int_value\30\4 \1(\4\22\32\12\22negative_int_value\30"
    "\5 \1(\3\22\24\12\14double_value\30\6 \1(\1\22\24\12\14string_value\30\7 \1(\14\22\27\12\17a"
    "ggregate_value\30\10 \1(\11\0323\12\10NamePart\22\21\12\11name_part\30\1 \2(\11\22\24\12\14i"
    "s_extension\30\2 \2(\10\"\216\14\12\12FeatureSet\22A\12\16field_presence\30\1 \1(\0162).goog"
    "le.protobuf.FeatureSet.FieldPresence\0227\12\11enum_type\30\2 \1(\0162$.google.protobuf.Feat"
    "ureSet.EnumType\22R\12\27repeated_field_encoding\30\3 \1(\01621.google.protobuf.FeatureSet.R"
    "epeatedFieldEncoding\22C\12\17utf8_validation\30\4 \1(\0162*.google.protobuf.FeatureSet.Utf8"
    "Validation\22E\12\20message_encoding\30\5 \1(\0162+.google.protobuf.FeatureSet.MessageEncodi"
    "ng\22;\12\13json_format\30\6 \1(\0162&.google.protobuf.FeatureSet.JsonFormat\22L\12\24enforc"
    "e_naming_style\30\7 \1(\0162..google.protobuf.FeatureSet.EnforceNamingStyle\22h\12\31default"
    "_symbol_visibility\30\10 \1(\0162E.google.protobuf.FeatureSet.VisibilityFeature.DefaultSymbo"
    "lVisibility\22_\12\24enforce_proto_limits\30\11 \1(\0162A.google.protobuf.FeatureSet.ProtoLi"
    "mitsFeature.EnforceProtoLimits\32\227\1\12\21VisibilityFeature\"\201\1\12\27DefaultSymbolVis"
    "ibility\22%\12!DEFAULT_SYMBOL_VISIBILITY_UNKNOWN\20\0\22\16\12\12EXPORT_ALL\20\1\22\24\12\20"
    "EXPORT_TOP_LEVEL\20\2\22\15\12\11LOCAL_ALL\20\3\22\12\12\6STRICT\20\4\32y\12\22ProtoLimitsFe"
    "ature\"c\12\22EnforceProtoLimits\22\30\12\24PROTO_LIMITS_UNKNOWN\20\0\22\35\12\31LEGACY_NO_E"
    "XPLICIT_LIMITS\20\1\22\24\12\20PROTO_LIMITS2026\20\2\"\\\12\15FieldPresence\22\32\12\26FIELD"
    "_PRESENCE_UNKNOWN\20\0\22\14\12\10EXPLICIT\20\1\22\14\12\10IMPLICIT\20\2\22\23\12\17LEGACY_R"
    "EQUIRED\20\3\"7\12\10EnumType\22\25\12\21ENUM_TYPE_UNKNOWN\20\0\22\10\12\4OPEN\20\1\22\12\12"
    "\6CLOSED\20\2\"V\12\25RepeatedFieldEncoding\22#\12\37REPEATED_FIELD_ENCODING_UNKNOWN\20\0\22"
    "\12\12\6PACKED\20\1\22\14\12\10EXPANDED\20\2\"C\12\16Utf8Validation\22\33\12\27UTF8_VALIDATI"
    "ON_UNKNOWN\20\0\22\12\12\6VERIFY\20\2\22\10\12\4NONE\20\3\"S\12\17MessageEncoding\22\34\12"
    "\30MESSAGE_ENCODING_UNKNOWN\20\0\22\23\12\17LENGTH_PREFIXED\20\1\22\15\12\11DELIMITED\20\2\""
    "H\12\12JsonFormat\22\27\12\23JSON_FORMAT_UNKNOWN\20\0\22\11\12\5ALLOW\20\1\22\26\12\22LEGACY"
    "_BEST_EFFORT\20\2\"f\12\22EnforceNamingStyle\22 \12\34ENFORCE_NAMING_STYLE_UNKNOWN\20\0\22"
    "\15\12\11STYLE2024\20\1\22\20\12\14STYLE_LEGACY\20\2\22\15\12\11STYLE2026\20\3\"\202\3\12\22"
    "FeatureSetDefaults\22N\12\10defaults\30\1 \3(\0132<.google.protobuf.FeatureSetDefaults.Featu"
    "reSetEditionDefault\0221\12\17minimum_edition\30\4 \1(\0162\30.google.protobuf.Edition\0221"
    "\12\17maximum_edition\30\5 \1(\0162\30.google.protobuf.Edition\32\265\1\12\30FeatureSetEditi"
    "onDefault\22)\12\7edition\30\3 \1(\0162\30.google.protobuf.Edition\0229\12\24overridable_fea"
    "tures\30\4 \1(\0132\33.google.protobuf.FeatureSet\0223\12\16fixed_features\30\5 \1(\0132\33."
    "google.protobuf.FeatureSet\"\325\1\12\16SourceCodeInfo\22:\12\10location\30\1 \3(\0132(.goog"
    "le.protobuf.SourceCodeInfo.Location\32\206\1\12\10Location\22\20\12\4path\30\1 \3(\5B\2\20\1"
    "\22\20\12\4span\30\2 \3(\5B\2\20\1\22\30\12\20leading_comments\30\3 \1(\11\22\31\12\21traili"
    "ng_comments\30\4 \1(\11\22!\12\31leading_detached_comments\30\6 \3(\11\"\234\2\12\21Generate"
    "dCodeInfo\22A\12\12annotation\30\1 \3(\0132-.google.protobuf.GeneratedCodeInfo.Annotation\32"
    "\303\1\12\12Annotation\22\20\12\4path\30\1 \3(\5B\2\20\1\22\23\12\13source_file\30\2 \1(\11"
    "\22\15\12\5begin\30\3 \1(\5\22\13\12\3end\30\4 \1(\5\22H\12\10semantic\30\5 \1(\01626.google"
    ".protobuf.GeneratedCodeInfo.Annotation.Semantic\"(\12\10Semantic\22\10\12\4NONE\20\0\22\7\12"
    "\3SET\20\1\22\11\12\5ALIAS\20\2*\321\2\12\7Edition\22\23\12\17EDITION_UNKNOWN\20\0\22\23\12"
    "\16EDITION_LEGACY\20\204\7\22\23\12\16EDITION_PROTO2\20\346\7\22\23\12\16EDITION_PROTO3\20"
    "\347\7\22\21\12\14EDITION_2023\20\350\7\22\21\12\14EDITION_2024\20\351\7\22\21\12\14EDITION_"
    "2026\20\352\7\22\25\12\20EDITION_UNSTABLE\20\217N\22\27\12\23EDITION_1_TEST_ONLY\20\1\22\27"
    "\12\23EDITION_2_TEST_ONLY\20\2\22\35\12\27EDITION_99997_TEST_ONLY\20\235\215\6\22\35\12\27ED"
    "ITION_99998_TEST_ONLY\20\236\215\6\22\35\12\27EDITION_99999_TEST_ONLY\20\237\215\6\22\23\12"
    "\13EDITION_MAX\20\377\377\377\377\7*U\12\20SymbolVisibility\22\24\12\20VISIBILITY_UNSET\20\0"
    "\22\24\12\20VISIBILITY_LOCAL\20\1\22\25\12\21VISIBILITY_EXPORT\20\2";

/* google/protobuf/duration.proto */
static const char file_3[] =
    "\12\36google/protobuf/duration.proto\22\17google.protobuf\"*\12\10Duration\22\17\12\7seconds"
    "\30\1 \1(\3\22\15\12\5nanos\30\2 \1(\5b\6proto3";

/* google/protobuf/empty.proto */
static const char file_4[] =
    "\12\33google/protobuf/empty.proto\22\17google.protobuf\"\7\12\5Emptyb\6proto3";

/* google/protobuf/field_mask.proto */
static const char file_5[] =
    "\12 google/protobuf/field_mask.proto\22\17google.protobuf\"\32\12\11FieldMask\22\15\12\5path"
    "s\30\1 \3(\11b\6proto3";

/* google/protobuf/source_context.proto */
static const char file_6[] =
    "\12$google/protobuf/source_context.proto\22\17google.protobuf\"\"\12\15SourceContext\22\21"
    "\12\11file_name\30\1 \1(\11b\6proto3";

/* google/protobuf/struct.proto */
static const char file_7[] =
    "\12\34google/protobuf/struct.proto\22\17google.protobuf\"\204\1\12\6Struct\0223\12\6fields"
    "\30\1 \3(\0132#.google.protobuf.Struct.FieldsEntry\32E\12\13FieldsEntry\22\13\12\3key\30\1 "
    "\1(\11\22%\12\5value\30\2 \1(\0132\26.google.protobuf.Value:\0028\1\"\352\1\12\5Value\0220"
    "\12\12null_value\30\1 \1(\0162\32.google.protobuf.NullValueH\0\22\26\12\14number_value\30\2 "
    "\1(\1H\0\22\26\12\14string_value\30\3 \1(\11H\0\22\24\12\12bool_value\30\4 \1(\10H\0\22/\12"
    "\14struct_value\30\5 \1(\0132\27.google.protobuf.StructH\0\0220\12\12list_value\30\6 \1(\013"
    "2\32.google.protobuf.ListValueH\0B\6\12\4kind\"3\12\11ListValue\22&\12\6values\30\1 \3(\0132"
    "\26.google.protobuf.Value*\33\12\11NullValue\22\16\12\12NULL_VALUE\20\0b\6proto3";

/* google/protobuf/timestamp.proto */
static const char file_8[] =
    "\12\37google/protobuf/timestamp.proto\22\17google.protobuf\"+\12\11Timestamp\22\17\12\7secon"
    "ds\30\1 \1(\3\22\15\12\5nanos\30\2 \1(\5b\6proto3";

/* google/protobuf/type.proto */
static const char file_9[] =
    "\12\32google/protobuf/type.proto\22\17google.protobuf\32\31google/protobuf/any.proto\32$goog"
    "le/protobuf/source_context.proto\"\350\1\12\4Type\22\14\12\4name\30\1 \1(\11\22&\12\6fields"
    "\30\2 \3(\0132\26.google.protobuf.Field\22\16\12\6oneofs\30\3 \3(\11\22(\12\7options\30\4 \3"
    "(\0132\27.google.protobuf.Option\0226\12\16source_context\30\5 \1(\0132\36.google.protobuf.S"
    "ourceContext\22'\12\6syntax\30\6 \1(\0162\27.google.protobuf.Syntax\22\17\12\7edition\30\7 "
    "\1(\11\"\325\5\12\5Field\22)\12\4kind\30\1 \1(\0162\33.google.protobuf.Field.Kind\0227\12\13"
    "cardinality\30\2 \1(\0162\".google.protobuf.Field.Cardinality\22\16\12\6number\30\3 \1(\5\22"
    "\14\12\4name\30\4 \1(\11\22\20\12\10type_url\30\6 \1(\11\22\23\12\13oneof_index\30\7 \1(\5"
    "\22\16\12\6packed\30\10 \1(\10\22(\12\7options\30\11 \3(\0132\27.google.protobuf.Option\22"
    "\21\12\11json_name\30\12 \1(\11\22\25\12\15default_value\30\13 \1(\11\"\310\2\12\4Kind\22\20"
    "\12\14TYPE_UNKNOWN\20\0\22\17\12\13TYPE_DOUBLE\20\1\22\16\12\12TYPE_FLOAT\20\2\22\16\12\12TY"
    "PE_INT64\20\3\22\17\12\13TYPE_UINT64\20\4\22\16\12\12TYPE_INT32\20\5\22\20\12\14TYPE_FIXED64"
    "\20\6\22\20\12\14TYPE_FIXED32\20\7\22\15\12\11TYPE_BOOL\20\10\22\17\12\13TYPE_STRING\20\11"
    "\22\16\12\12TYPE_GROUP\20\12\22\20\12\14TYPE_MESSAGE\20\13\22\16\12\12TYPE_BYTES\20\14\22\17"
    "\12\13TYPE_UINT32\20\15\22\15\12\11TYPE_ENUM\20\16\22\21\12\15TYPE_SFIXED32\20\17\22\21\12"
    "\15TYPE_SFIXED64\20\20\22\17\12\13TYPE_SINT32\20\21\22\17\12\13TYPE_SINT64\20\22\"t\12\13Car"
    "dinality\22\27\12\23CARDINALITY_UNKNOWN\20\0\22\30\12\24CARDINALITY_OPTIONAL\20\1\22\30\12"
    "\24CARDINALITY_REQUIRED\20\2\22\30\12\24CARDINALITY_REPEATED\20\3\"\337\1\12\4Enum\22\14\12"
    "\4name\30\1 \1(\11\22-\12\11enumvalue\30\2 \3(\0132\32.google.protobuf.EnumValue\22(\12\7opt"
    "ions\30\3 \3(\0132\27.google.protobuf.Option\0226\12\16source_context\30\4 \1(\0132\36.googl"
    "e.protobuf.SourceContext\22'\12\6syntax\30\5 \1(\0162\27.google.protobuf.Syntax\22\17\12\7ed"
    "ition\30\6 \1(\11\"S\12\11EnumValue\22\14\12\4name\30\1 \1(\11\22\16\12\6number\30\2 \1(\5"
    "\22(\12\7options\30\3 \3(\0132\27.google.protobuf.Option\";\12\6Option\22\14\12\4name\30\1 "
    "\1(\11\22#\12\5value\30\2 \1(\0132\24.google.protobuf.Any*C\12\6Syntax\22\21\12\15SYNTAX_PRO"
    "TO2\20\0\22\21\12\15SYNTAX_PROTO3\20\1\22\23\12\17SYNTAX_EDITIONS\20\2b\6proto3";

/* google/protobuf/wrappers.proto */
static const char file_10[] =
    "\12\36google/protobuf/wrappers.proto\22\17google.protobuf\"\34\12\13DoubleValue\22\15\12\5va"
    "lue\30\1 \1(\1\"\33\12\12FloatValue\22\15\12\5value\30\1 \1(\2\"\33\12\12Int64Value\22\15\12"
    "\5value\30\1 \1(\3\"\34\12\13UInt64Value\22\15\12\5value\30\1 \1(\4\"\33\12\12Int32Value\22"
    "\15\12\5value\30\1 \1(\5\"\34\12\13UInt32Value\22\15\12\5value\30\1 \1(\15\"\32\12\11BoolVal"
    "ue\22\15\12\5value\30\1 \1(\10\"\34\12\13StringValue\22\15\12\5value\30\1 \1(\11\"\33\12\12B"
    "ytesValue\22\15\12\5value\30\1 \1(\14b\6proto3";

/* google/type/calendar_period.proto */
static const char file_11[] =
    "\12!google/type/calendar_period.proto\22\13google.type*\177\12\16CalendarPeriod\22\37\12\33C"
    "ALENDAR_PERIOD_UNSPECIFIED\20\0\22\7\12\3DAY\20\1\22\10\12\4WEEK\20\2\22\15\12\11FORTNIGHT"
    "\20\3\22\11\12\5MONTH\20\4\22\13\12\7QUARTER\20\5\22\10\12\4HALF\20\6\22\10\12\4YEAR\20\7b\6"
    "proto3";

/* google/type/color.proto */
static const char file_12[] =
    "\12\27google/type/color.proto\22\13google.type\32\36google/protobuf/wrappers.proto\"]\12\5Co"
    "lor\22\13\12\3red\30\1 \1(\2\22\15\12\5green\30\2 \1(\2\22\14\12\4blue\30\3 \1(\2\22*\12\5al"
    "pha\30\4 \1(\0132\33.google.protobuf.FloatValueb\6proto3";

/* google/type/date.proto */
static const char file_13[] =
    "\12\26google/type/date.proto\22\13google.type\"0\12\4Date\22\14\12\4year\30\1 \1(\5\22\15\12"
    "\5month\30\2 \1(\5\22\13\12\3day\30\3 \1(\5b\6proto3";

/* google/type/datetime.proto */
static const char file_14[] =
    "\12\32google/type/datetime.proto\22\13google.type\32\36google/protobuf/duration.proto\"\340"
    "\1\12\10DateTime\22\14\12\4year\30\1 \1(\5\22\15\12\5month\30\2 \1(\5\22\13\12\3day\30\3 \1("
    "\5\22\15\12\5hours\30\4 \1(\5\22\17\12\7minutes\30\5 \1(\5\22\17\12\7seconds\30\6 \1(\5\22"
    "\15\12\5nanos\30\7 \1(\5\22/\12\12utc_offset\30\10 \1(\0132\31.google.protobuf.DurationH\0"
    "\22*\12\11time_zone\30\11 \1(\0132\25.google.type.TimeZoneH\0B\15\12\13time_offset\"'\12\10T"
    "imeZone\22\12\12\2id\30\1 \1(\11\22\17\12\7version\30\2 \1(\11b\6proto3";

/* google/type/dayofweek.proto */
static const char file_15[] =
    "\12\33google/type/dayofweek.proto\22\13google.type*\204\1\12\11DayOfWeek\22\33\12\27DAY_OF_W"
    "EEK_UNSPECIFIED\20\0\22\12\12\6MONDAY\20\1\22\13\12\7TUESDAY\20\2\22\15\12\11WEDNESDAY\20\3"
    "\22\14\12\10THURSDAY\20\4\22\12\12\6FRIDAY\20\5\22\14\12\10SATURDAY\20\6\22\12\12\6SUNDAY\20"
    "\7b\6proto3";

/* google/type/decimal.proto */
static const char file_16[] =
    "\12\31google/type/decimal.proto\22\13google.type\"\30\12\7Decimal\22\15\12\5value\30\1 \1("
    "\11b\6proto3";

/* google/type/expr.proto */
static const char file_17[] =
    "\12\26google/type/expr.proto\22\13google.type\"P\12\4Expr\22\22\12\12expression\30\1 \1(\11"
    "\22\15\12\5title\30\2 \1(\11\22\23\12\13description\30\3 \1(\11\22\20\12\10location\30\4 \1("
    "\11b\6proto3";

/* google/type/fraction.proto */
static const char file_18[] =
    "\12\32google/type/fraction.proto\22\13google.type\"2\12\10Fraction\22\21\12\11numerator\30\1"
    " \1(\3\22\23\12\13denominator\30\2 \1(\3b\6proto3";

/* google/type/interval.proto */
static const char file_19[] =
    "\12\32google/type/interval.proto\22\13google.type\32\37google/protobuf/timestamp.proto\"h\12"
    "\10Interval\22.\12\12start_time\30\1 \1(\0132\32.google.protobuf.Timestamp\22,\12\10end_time"
    "\30\2 \1(\0132\32.google.protobuf.Timestampb\6proto3";

/* google/type/latlng.proto */
static const char file_20[] =
    "\12\30google/type/latlng.proto\22\13google.type\"-\12\6LatLng\22\20\12\10latitude\30\1 \1(\1"
    "\22\21\12\11longitude\30\2 \1(\1b\6proto3";

/* google/type/localized_text.proto */
static const char file_21[] =
    "\12 google/type/localized_text.proto\22\13google.type\"4\12\15LocalizedText\22\14\12\4text"
    "\30\1 \1(\11\22\25\12\15language_code\30\2 \1(\11b\6proto3";

/* google/type/money.proto */
static const char file_22[] =
    "\12\27google/type/money.proto\22\13google.type\"<\12\5Money\22\25\12\15currency_code\30\1 \1"
    "(\11\22\15\12\5units\30\2 \1(\3\22\15\12\5nanos\30\3 \1(\5b\6proto3";

/* google/type/month.proto */
static const char file_23[] =
    "\12\27google/type/month.proto\22\13google.type*\260\1\12\5Month\22\25\12\21MONTH_UNSPECIFIED"
    "\20\0\22\13\12\7JANUARY\20\1\22\14\12\10FEBRUARY\20\2\22\11\12\5MARCH\20\3\22\11\12\5APRIL"
    "\20\4\22\7\12\3MAY\20\5\22\10\12\4JUNE\20\6\22\10\12\4JULY\20\7\22\12\12\6AUGUST\20\10\22\15"
    "\12\11SEPTEMBER\20\11\22\13\12\7OCTOBER\20\12\22\14\12\10NOVEMBER\20\13\22\14\12\10DECEMBER"
    "\20\14b\6proto3";

/* google/type/phone_number.proto */
static const char file_24[] =
    "\12\36google/type/phone_number.proto\22\13google.type\"\253\1\12\13PhoneNumber\22\25\12\13e1"
    "64_number\30\1 \1(\11H\0\0228\12\12short_code\30\2 \1(\0132\".google.type.PhoneNumber.ShortC"
    "odeH\0\22\21\12\11extension\30\3 \1(\11\0320\12\11ShortCode\22\23\12\13region_code\30\1 \1("
    "\11\22\16\12\6number\30\2 \1(\11B\6\12\4kindb\6proto3";

/* google/type/postal_address.proto */
static const char file_25[] =
    "\12 google/type/postal_address.proto\22\13google.type\"\375\1\12\15PostalAddress\22\20\12\10"
    "revision\30\1 \1(\5\22\23\12\13region_code\30\2 \1(\11\22\25\12\15language_code\30\3 \1(\11"
    "\22\23\12\13postal_code\30\4 \1(\11\22\24\12\14sorting_code\30\5 \1(\11\22\33\12\23administr"
    "ative_area\30\6 \1(\11\22\20\12\10locality\30\7 \1(\11\22\23\12\13sublocality\30\10 \1(\11"
    "\22\25\12\15address_lines\30\11 \3(\11\22\22\12\12recipients\30\12 \3(\11\22\24\12\14organiz"
    "ation\30\13 \1(\11b\6proto3";

/* google/type/quaternion.proto */
static const char file_26[] =
    "\12\34google/type/quaternion.proto\22\13google.type\"8\12\12Quaternion\22\11\12\1x\30\1 \1("
    "\1\22\11\12\1y\30\2 \1(\1\22\11\12\1z\30\3 \1(\1\22\11\12\1w\30\4 \1(\1b\6proto3";

/* google/type/timeofday.proto */
static const char file_27[] =
    "\12\33google/type/timeofday.proto\22\13google.type\"K\12\11TimeOfDay\22\15\12\5hours\30\1 \1"
    "(\5\22\17\12\7minutes\30\2 \1(\5\22\17\12\7seconds\30\3 \1(\5\22\15\12\5nanos\30\4 \1(\5b\6p"
    "roto3";

#define FILE_BYTES(array) {(const uint8_t *)(array), sizeof(array) - 1}
static const cst__builtin_file builtin_files[] = {
    {"google/protobuf/any.proto", FILE_BYTES(file_0)},
    {"google/protobuf/api.proto", FILE_BYTES(file_1)},
    {"google/protobuf/descriptor.proto", FILE_BYTES(file_2)},
    {"google/protobuf/duration.proto", FILE_BYTES(file_3)},
    {"google/protobuf/empty.proto", FILE_BYTES(file_4)},
    {"google/protobuf/field_mask.proto", FILE_BYTES(file_5)},
    {"google/protobuf/source_context.proto", FILE_BYTES(file_6)},
    {"google/protobuf/struct.proto", FILE_BYTES(file_7)},
    {"google/protobuf/timestamp.proto", FILE_BYTES(file_8)},
    {"google/protobuf/type.proto", FILE_BYTES(file_9)},
    {"google/protobuf/wrappers.proto", FILE_BYTES(file_10)},
    {"google/type/calendar_period.proto", FILE_BYTES(file_11)},
    {"google/type/color.proto", FILE_BYTES(file_12)},
    {"google/type/date.proto", FILE_BYTES(file_13)},
    {"google/type/datetime.proto", FILE_BYTES(file_14)},
    {"google/type/dayofweek.proto", FILE_BYTES(file_15)},
    {"google/type/decimal.proto", FILE_BYTES(file_16)},
    {"google/type/expr.proto", FILE_BYTES(file_17)},
    {"google/type/fraction.proto", FILE_BYTES(file_18)},
    {"google/type/interval.proto", FILE_BYTES(file_19)},
    {"google/type/latlng.proto", FILE_BYTES(file_20)},
    {"google/type/localized_text.proto", FILE_BYTES(file_21)},
    {"google/type/money.proto", FILE_BYTES(file_22)},
    {"google/type/month.proto", FILE_BYTES(file_23)},
    {"google/type/phone_number.proto", FILE_BYTES(file_24)},
    {"google/type/postal_address.proto", FILE_BYTES(file_25)},
    {"google/type/quaternion.proto", FILE_BYTES(file_26)},
    {"google/type/timeofday.proto", FILE_BYTES(file_27)},
};
/* clang-format on */

const cst__builtin_file *cst__builtin_file_find(cst_bytes name) {
  for (size_t i = 0; i < sizeof builtin_files / sizeof builtin_files[0]; i++) {
    const char *have = builtin_files[i].name;
    if (strlen(have) == name.size && memcmp(have, name.data, name.size) == 0) {
      return &builtin_files[i];
    }
  }
  return NULL;
}
